// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/os/socket_address.hpp"
#include "fermata/uv/buffer.hpp"

namespace fermata::uv::detail {

namespace {

/// Buffers of one system call, at most: their addresses lie on the stack of whoever writes.
constexpr std::size_t kGathered = 16;

}  // namespace

// --- what they have in common ---

Stream::Stream(Loop& loop, backend::IoType type, backend::Direction direction, uv_stream_t* stream)
    : backend::StreamHandle(loop.attachment(), type, direction), loop_(loop), stream_(stream) {}

uv_connect_t& Stream::connect_request() noexcept {
  request_.connect.data = this;
  return request_.connect;
}

void Stream::on_connected(uv_connect_t* request, int status) noexcept {
  FERMATA_ASSERT(status <= 0);
  Stream& stream = self(request->data);
  stream.loop_.complete([keep = Ref<Stream>::share(stream), status] { keep->connected(-status); });
}

void Stream::provide_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) noexcept {
  Stream& stream = self(handle->data);
  FERMATA_ASSERT(!stream.providing_);
  stream.providing_ = true;
  stream.loop_.begin_callback();
  const bool has_read = stream.read_by_itself();
  stream.providing_ = false;
  // Without a buffer libuv reads nothing, and tells on_read UV_ENOBUFS.
  *buffer = has_read ? uv_buf_t{} : buffer_of(stream.read_target(stream.loop_.spare_buffer()));
  FERMATA_ASSERT(has_read || buffer->len > 0);
}

void Stream::on_read(uv_stream_t* handle, ssize_t size, const uv_buf_t* buffer) noexcept {
  Stream& stream = self(handle->data);
  stream.loop_.begin_callback();
  if (std::exchange(stream.stops_, false)) uv_read_stop(handle);
  if (stream.is_closed()) {
    if (uv_is_closing(reinterpret_cast<uv_handle_t*>(handle)) == 0) stream.close_backend();
  } else if (size > 0) {
    FERMATA_ASSERT(static_cast<std::size_t>(size) <= buffer->len);
    stream.received(
        {reinterpret_cast<const std::byte*>(buffer->base), static_cast<std::size_t>(size)});
  } else if (size == UV_EOF) {
    stream.received_end();
  } else if (size < 0 && buffer->base != nullptr) {  // Else it has read by itself.
    stream.receive_failed(static_cast<int>(-size));
  }
}

int Stream::start_reading() {
  FERMATA_ASSERT(!is_closed());
  FERMATA_ASSERT(is_readable());
  loop_.watch(*this);
  if (std::exchange(stops_, false)) return 0;  // It goes on.
  return -uv_read_start(stream_, provide_buffer, on_read);
}

void Stream::stop_reading() noexcept {
  loop_.unwatch(*this);
  if (providing_) {
    stops_ = true;
  } else {
    uv_read_stop(stream_);
  }
}

backend::StreamHandle::Written Stream::try_write(backend::Buffers buffers) {
  std::array<uv_buf_t, kGathered> vectors;
  std::size_t accepted = 0;
  while (!buffers.empty()) {
    const backend::Buffers batch = buffers.first(std::min(buffers.size(), vectors.size()));
    std::transform(batch.begin(), batch.end(), vectors.begin(), buffer_of);
    const int size = uv_try_write(stream_, vectors.data(), static_cast<unsigned>(batch.size()));
    if (size < 0) return {accepted, size == UV_EAGAIN ? 0 : -size};
    FERMATA_ASSERT(static_cast<std::size_t>(size) <= backend::size_of(batch));
    accepted += static_cast<std::size_t>(size);
    if (static_cast<std::size_t>(size) < backend::size_of(batch)) break;
    buffers = buffers.subspan(batch.size());
  }
  return {accepted, 0};
}

int Stream::submit_write(std::span<const std::byte> data) {
  FERMATA_ASSERT(!data.empty());
  FERMATA_ASSERT(!is_closed());
  FERMATA_ASSERT(uv_stream_get_write_queue_size(stream_) == 0);  // The request is free.
  const uv_buf_t buffer = buffer_of(data);
  request_.write.data = this;
  return -uv_write(
      &request_.write, stream_, &buffer, 1, [](uv_write_t* request, int status) noexcept {
        Stream& stream = self(request->data);
        stream.loop_.complete(
            [keep = Ref<Stream>::share(stream), status] { keep->write_done(-status); });
      });
}

void Stream::submit_shutdown() noexcept {
  FERMATA_ASSERT(!is_closed());
  FERMATA_ASSERT(uv_stream_get_write_queue_size(stream_) == 0);
  request_.shutdown.data = this;
  uv_shutdown(&request_.shutdown, stream_, [](uv_shutdown_t* request, int) noexcept {
    self(request->data).loop_.begin_callback();
  });
}

int Stream::descriptor() const noexcept {
  uv_os_fd_t descriptor = -1;
  uv_fileno(reinterpret_cast<const uv_handle_t*>(stream_), &descriptor);
  return descriptor;
}

void Stream::close_backend() noexcept {
  // Each comes back here: on_read, at once, and file_target_free.
  if (providing_ || file_target_in_use()) return;
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(uv_is_closing(reinterpret_cast<uv_handle_t*>(stream_)) == 0);
  loop_.unwatch(*this);
  before_close();
  uv_close(reinterpret_cast<uv_handle_t*>(stream_), [](uv_handle_t* handle) noexcept {
    Stream& stream = self(handle->data);
    stream.loop_.complete([&stream] { stream.close_acknowledged(); });
  });
}

// --- TCP ---

TcpSocket::TcpSocket(Loop& loop)
    : SocketStream(loop, backend::IoType::Tcp, backend::Direction::Both,
                   reinterpret_cast<uv_stream_t*>(&tcp_)) {
  check(uv_tcp_init(loop.get(), &tcp_), "create a socket");
  tcp_.data = static_cast<Stream*>(this);
}

void TcpSocket::adopt(int descriptor) {
  FERMATA_ASSERT(descriptor >= 0);
  os::set_option(descriptor, backend::SocketOption::NoDelay, 1);
  check(uv_tcp_open(&tcp_, descriptor), "adopt a socket");
  set_socket(descriptor);
}

void TcpSocket::connect(const Address& peer) {
  uv_tcp_nodelay(&tcp_, 1);
  const os::NativeAddress native(peer);
  check(uv_tcp_connect(&connect_request(), &tcp_, native.get(), on_connected),
        fmt::format("connect to {}", peer.text()));
  set_socket(descriptor());
}

bool TcpSocket::read_by_itself() noexcept {
  receive_some(loop().spare_buffer());
  return true;
}

// --- pipes ---

Pipe::Pipe(Loop& loop, backend::Direction direction)
    : Stream(loop, backend::IoType::Pipe, direction, reinterpret_cast<uv_stream_t*>(&pipe_)) {
  check(uv_pipe_init(loop.get(), &pipe_, 0), "create a pipe");
  pipe_.data = static_cast<Stream*>(this);
}

void Pipe::adopt(int descriptor) { check(uv_pipe_open(&pipe_, descriptor), "adopt a pipe"); }

void Pipe::submit_shutdown() noexcept {
  if (is_readable()) return Stream::submit_shutdown();
  // Closes the end of an anonymous pipe. The epoll descriptor is duplicated over its number, so
  // that libuv's later close() cannot hit another file.
  FERMATA_ASSERT(descriptor() >= 0);
  before_close();
  const int any = uv_backend_fd(loop().get());
  ::epoll_ctl(any, EPOLL_CTL_DEL, descriptor(), nullptr);
  ::dup3(any, descriptor(), O_CLOEXEC);
}

void Pipe::connect(const backend::PipePath& peer) noexcept {
  uv_pipe_connect(&connect_request(), &pipe_, peer.text().c_str(), on_connected);
}

Ref<backend::StreamHandle> adopt_end_of_pipe(Loop& loop, int descriptor,
                                             backend::Direction direction) {
  FERMATA_ASSERT(descriptor >= 0);
  FERMATA_ASSERT(direction != backend::Direction::Both);
  try {
    auto end = Ref<Pipe>::adopt(*new Pipe(loop, direction));
    end->adopt(descriptor);
    return Ref<backend::StreamHandle>::adopt(*end.detach());
  } catch (...) {
    ::close(descriptor);
    throw;
  }
}

}  // namespace fermata::uv::detail
