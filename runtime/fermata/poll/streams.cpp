// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/streams.hpp"

#include <fmt/format.h>

#include "fermata/base/error.hpp"
#include "fermata/poll/tcp.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::poll::detail {

Ref<backend::ListenerHandle> Streams::listen_at(const Address& address,
                                                const ListenOptions& options) {
  return Ref<backend::ListenerHandle>::adopt(*new TcpListener(watches_, address, options));
}

Ref<backend::StreamHandle> Streams::connect(int descriptor, const Address& peer) {
  Ref<TcpSocket> stream;
  try {
    stream = Ref<TcpSocket>::adopt(*new TcpSocket(watches_, descriptor));
  } catch (const InputOutputError& error) {
    os::kernel.close(descriptor);
    throw InputOutputError(fmt::format("connect to {}", peer.text()), error.code());
  }
  stream->connect(peer);
  return Ref<backend::StreamHandle>::adopt(*stream.detach());
}

}  // namespace fermata::poll::detail
