// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/uv/streams.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/uv/socket_address.hpp"

namespace fermata::uv::detail {

namespace {

/// A turn goes on to other descriptors after this many connections.
constexpr int kAcceptsPerTurn = 64;

uv_buf_t buffer_of(std::span<const std::byte> data) {
  // libuv takes a char* for reading and writing alike.
  auto* base = reinterpret_cast<char*>(const_cast<std::byte*>(data.data()));
  return uv_buf_init(base, static_cast<unsigned>(data.size()));
}

void set_option(int descriptor, int level, int option) {
  const int on = 1;
  setsockopt(descriptor, level, option, &on, sizeof on);
}

int open_listening_socket(const Address& address, const ListenOptions& options) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const auto fail = [&] {
    const int code = errno;
    if (descriptor >= 0) ::close(descriptor);
    throw InputOutputError(fmt::format("listen at {}", address.text()), code);
  };
  if (descriptor < 0) fail();
  set_option(descriptor, SOL_SOCKET, SO_REUSEADDR);
  if (options.reuse_port) set_option(descriptor, SOL_SOCKET, SO_REUSEPORT);
  const sockaddr_in native = to_native(address);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&native), sizeof native) != 0) fail();
  if (::listen(descriptor, options.backlog) != 0) fail();
  return descriptor;
}

}  // namespace

// --- Stream ---

Stream::Stream(Loop& loop) : StreamHandle(loop.attachment(), IoType::Tcp), loop_(loop) {
  check(uv_tcp_init(loop.get(), &tcp_), "create a socket");
  tcp_.data = connect_.data = write_.data = shutdown_.data = this;
}

void Stream::adopt(int descriptor) {
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY);
  check(uv_tcp_open(&tcp_, descriptor), "adopt a socket");
}

void Stream::connect(const Address& peer) {
  uv_tcp_nodelay(&tcp_, 1);
  const sockaddr_in native = to_native(peer);
  check(uv_tcp_connect(&connect_, &tcp_, reinterpret_cast<const sockaddr*>(&native),
                       [](uv_connect_t* request, int status) noexcept {
                         Stream& stream = self(request->data);
                         stream.loop_.begin_callback();
                         stream.connected(-status);
                       }),
        fmt::format("connect to {}", peer.text()));
}

Address Stream::local_address() const { return address_of(&tcp_, uv_tcp_getsockname); }

Address Stream::peer_address() const { return address_of(&tcp_, uv_tcp_getpeername); }

void Stream::provide_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) noexcept {
  Stream& stream = self(handle->data);
  stream.providing_ = true;
  stream.loop_.begin_callback();
  stream.providing_ = false;
  *buffer = buffer_of(stream.read_target(stream.loop_.spare_buffer()));
}

void Stream::on_read(uv_stream_t* handle, ssize_t size, const uv_buf_t* buffer) noexcept {
  Stream& stream = self(handle->data);
  stream.loop_.begin_callback();
  if (stream.closed()) {
    if (uv_is_closing(reinterpret_cast<uv_handle_t*>(handle)) == 0) stream.close_backend();
  } else if (size > 0) {
    stream.received(
        {reinterpret_cast<const std::byte*>(buffer->base), static_cast<std::size_t>(size)});
  } else if (size == UV_EOF) {
    stream.received_end();
  } else if (size < 0) {
    stream.receive_failed(static_cast<int>(-size));
  }
}

int Stream::start_reading() { return -uv_read_start(stream(), provide_buffer, on_read); }

void Stream::stop_reading() noexcept { uv_read_stop(stream()); }

StreamHandle::Written Stream::try_write(std::span<const std::byte> data) {
  const uv_buf_t buffer = buffer_of(data);
  const int size = uv_try_write(stream(), &buffer, 1);
  if (size >= 0) return {static_cast<std::size_t>(size), 0};
  return {0, size == UV_EAGAIN ? 0 : -size};
}

int Stream::submit_write(std::span<const std::byte> data) {
  const uv_buf_t buffer = buffer_of(data);
  return -uv_write(&write_, stream(), &buffer, 1, [](uv_write_t* request, int status) noexcept {
    Stream& self_stream = self(request->data);
    self_stream.loop_.begin_callback();
    self_stream.write_done(-status);
  });
}

void Stream::submit_shutdown() noexcept {
  uv_shutdown(&shutdown_, stream(), [](uv_shutdown_t* request, int) noexcept {
    self(request->data).loop_.begin_callback();
  });
}

void Stream::close_backend() noexcept {
  if (providing_) return;  // on_read follows at once and comes back here.
  uv_close(reinterpret_cast<uv_handle_t*>(&tcp_),
           [](uv_handle_t* handle) noexcept { self(handle->data).close_acknowledged(); });
}

// --- Listener ---

Listener::Listener(Loop& loop, const Address& address, const ListenOptions& options)
    : ListenerHandle(loop.attachment(), options),
      loop_(loop),
      descriptor_(open_listening_socket(address, options)) {
  if (const int code = uv_poll_init(loop.get(), &poll_, descriptor_); code < 0) {
    ::close(descriptor_);
    check(code, fmt::format("listen at {}", address.text()));
  }
  poll_.data = this;
}

Address Listener::local_address() const { return local_address_of(descriptor_); }

void Listener::resume_accepting() {
  check(uv_poll_start(&poll_, UV_READABLE,
                      [](uv_poll_t* poll, int, int) noexcept {
                        auto& listener = *static_cast<Listener*>(poll->data);
                        listener.loop_.begin_callback();
                        listener.accept_some();
                      }),
        "watch a listener");
}

void Listener::pause_accepting() noexcept { uv_poll_stop(&poll_); }

void Listener::accept_some() noexcept {
  for (int i = 0; i < kAcceptsPerTurn && accepting(); ++i) {
    const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      if (errno == EAGAIN) return;
      accept_failed(errno);
      continue;
    }
    auto stream = Ref<Stream>::adopt(*new Stream(loop_));
    try {
      stream->adopt(descriptor);
    } catch (const InputOutputError& error) {
      ::close(descriptor);
      accept_failed(error.code());
      continue;
    }
    accepted(Ref<StreamHandle>::adopt(*stream.detach()));
  }
}

void Listener::close_backend() noexcept {
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), [](uv_handle_t* handle) noexcept {
    auto& listener = *static_cast<Listener*>(handle->data);
    ::close(listener.descriptor_);
    listener.close_acknowledged();
  });
}

// --- Streams ---

Ref<ListenerHandle> Streams::open_listener(const Address& address, const ListenOptions& options) {
  return Ref<ListenerHandle>::adopt(*new Listener(loop_, address, options));
}

Ref<StreamHandle> Streams::open_connection(const Address& peer) {
  auto stream = Ref<Stream>::adopt(*new Stream(loop_));
  stream->connect(peer);
  return Ref<StreamHandle>::adopt(*stream.detach());
}

}  // namespace fermata::uv::detail
