// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/listener.hpp"

#include <unistd.h>

#include "fermata/base/assert.hpp"
#include "fermata/os/socket_address.hpp"
#include "fermata/uv/stream.hpp"

namespace fermata::uv::detail {

namespace {

template <class Socket>
Ref<backend::StreamHandle> adopted(Loop& loop, int descriptor) {
  auto stream = Ref<Socket>::adopt(*new Socket(loop));
  stream->adopt(descriptor);
  return Ref<backend::StreamHandle>::adopt(*stream.detach());
}

}  // namespace

// --- what they have in common ---

Listener::Listener(Loop& loop, int descriptor, const std::string& place,
                   const ListenOptions& options)
    : SocketListener(loop.attachment(), descriptor, options), loop_(loop) {
  if (const int code = uv_poll_init(loop.get(), &poll_, descriptor); code < 0) {
    ::close(descriptor);
    check(code, "listen at " + place);
  }
  poll_.data = this;
}

int Listener::poll() noexcept {
  return uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* poll, int, int) noexcept {
    auto& listener = *static_cast<Listener*>(poll->data);
    listener.loop_.begin_callback();
    listener.accept_some();
  });
}

void Listener::resume_accepting() {
  FERMATA_ASSERT(!is_closed());
  check(poll(), "watch a listener");
  loop_.watch(*this);
}

void Listener::pause_accepting() noexcept {
  loop_.unwatch(*this);
  uv_poll_stop(&poll_);
}

void Listener::close_backend() noexcept {
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(uv_is_closing(reinterpret_cast<uv_handle_t*>(&poll_)) == 0);
  before_close();
  loop_.unwatch(*this);
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), [](uv_handle_t* handle) noexcept {
    auto& listener = *static_cast<Listener*>(handle->data);
    ::close(listener.descriptor());
    listener.loop_.complete([&listener] { listener.close_acknowledged(); });
  });
}

// --- TCP ---

TcpListener::TcpListener(Loop& loop, const Address& address, const ListenOptions& options)
    : Listener(loop, os::listen_at(address, options), address.text(), options) {}

Address TcpListener::local_address() const { return os::local_address_of(descriptor()); }

Ref<backend::StreamHandle> TcpListener::adopt(int descriptor) {
  return adopted<TcpSocket>(loop(), descriptor);
}

// --- Unix sockets ---

PipeListener::PipeListener(Loop& loop, const backend::PipePath& path, const ListenOptions& options)
    : Listener(loop, os::listen_at(path, options), path.text(), options), path_(path) {}

Ref<backend::StreamHandle> PipeListener::adopt(int descriptor) {
  return adopted<Pipe>(loop(), descriptor);
}

void PipeListener::before_close() noexcept { ::unlink(path_.text().c_str()); }

}  // namespace fermata::uv::detail
