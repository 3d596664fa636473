// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/streams.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>

#include "fermata/base/error.hpp"
#include "fermata/os/socket_address.hpp"
#include "fermata/poll/tcp.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::poll::detail {

Ref<backend::ListenerHandle> Streams::open_listener(const Address& address,
                                                    const ListenOptions& options) {
  return Ref<backend::ListenerHandle>::adopt(*new TcpListener(watches_, address, options));
}

Ref<backend::StreamHandle> Streams::open_connection(const Address& peer) {
  const int family = os::NativeAddress(peer).family();
  const int descriptor = os::kernel.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const std::string operation = fmt::format("connect to {}", peer.text());
  if (descriptor < 0) throw InputOutputError(operation, errno);
  Ref<TcpSocket> stream;
  try {
    stream = Ref<TcpSocket>::adopt(*new TcpSocket(watches_, descriptor));
  } catch (const InputOutputError& error) {
    os::kernel.close(descriptor);
    throw InputOutputError(operation, error.code());
  }
  stream->connect(peer);
  return Ref<backend::StreamHandle>::adopt(*stream.detach());
}

Ref<backend::ListenerHandle> Streams::open_listener(const backend::PipePath&,
                                                    const ListenOptions&) {
  refuse("Unix sockets");
}

Ref<backend::StreamHandle> Streams::open_connection(const backend::PipePath&) {
  refuse("Unix sockets");
}

backend::PipeHandles Streams::open_pipe() { refuse("pipes"); }

Ref<backend::StreamHandle> Streams::open_standard(backend::StandardStream which) {
  refuse(to_string(which));
}

void Streams::refuse(std::string_view part) const {
  throw Unsupported(part, watches_.backend().name());
}

}  // namespace fermata::poll::detail
