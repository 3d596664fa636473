// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/tcp_streams.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>

#include "fermata/base/error.hpp"
#include "fermata/os/socket_address.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

Ref<backend::ListenerHandle> TcpStreams::open_listener(const Address& address,
                                                       const ListenOptions& options) {
  return listen_at(address, options);
}

Ref<backend::StreamHandle> TcpStreams::open_connection(const Address& peer) {
  const int family = NativeAddress(peer).family();
  const int descriptor = kernel.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    throw InputOutputError(fmt::format("connect to {}", peer.text()), errno);
  }
  return connect(descriptor, peer);
}

Ref<backend::ListenerHandle> TcpStreams::open_listener(const backend::PipePath&,
                                                       const ListenOptions&) {
  refuse("Unix sockets");
}

Ref<backend::StreamHandle> TcpStreams::open_connection(const backend::PipePath&) {
  refuse("Unix sockets");
}

backend::PipeHandles TcpStreams::open_pipe() { refuse("pipes"); }

Ref<backend::StreamHandle> TcpStreams::open_standard(backend::StandardStream which) {
  refuse(to_string(which));
}

void TcpStreams::refuse(std::string_view part) const { throw Unsupported(part, reactor_.name()); }

}  // namespace fermata::os
