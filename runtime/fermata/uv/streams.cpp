// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "fermata/base/error.hpp"
#include "fermata/uv/listener.hpp"
#include "fermata/uv/stream.hpp"
#include "fermata/uv/terminal.hpp"

namespace fermata::uv::detail {

namespace {

template <class Socket, class Place>
Ref<backend::StreamHandle> connecting(Loop& loop, const Place& peer) {
  auto stream = Ref<Socket>::adopt(*new Socket(loop));
  stream->connect(peer);
  return Ref<backend::StreamHandle>::adopt(*stream.detach());
}

}  // namespace

Ref<backend::ListenerHandle> Streams::open_listener(const Address& address,
                                                    const ListenOptions& options) {
  return Ref<backend::ListenerHandle>::adopt(*new TcpListener(loop_, address, options));
}

Ref<backend::ListenerHandle> Streams::open_listener(const backend::PipePath& path,
                                                    const ListenOptions& options) {
  return Ref<backend::ListenerHandle>::adopt(*new PipeListener(loop_, path, options));
}

Ref<backend::StreamHandle> Streams::open_connection(const Address& peer) {
  return connecting<TcpSocket>(loop_, peer);
}

Ref<backend::StreamHandle> Streams::open_connection(const backend::PipePath& peer) {
  return connecting<Pipe>(loop_, peer);
}

Ref<backend::StreamHandle> Streams::open_standard(backend::StandardStream which) {
  return detail::open_standard(loop_, which);
}

backend::PipeHandles Streams::open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) {
    throw InputOutputError("open a pipe", errno);
  }
  Ref<backend::StreamHandle> reader;
  try {
    reader = adopt_end_of_pipe(loop_, ends[0], backend::Direction::In);
  } catch (...) {
    ::close(ends[1]);
    throw;
  }
  return {std::move(reader), adopt_end_of_pipe(loop_, ends[1], backend::Direction::Out)};
}

}  // namespace fermata::uv::detail
