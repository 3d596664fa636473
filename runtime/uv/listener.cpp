// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/uv/listener.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/uv/socket_address.hpp"
#include "fermata/runtime/uv/stream.hpp"

namespace fermata::uv::detail {

namespace {

/// A socket that listens at `native`; `place` is for the text of the InputOutputError.
template <class Native>
int open_listening_socket(const Native& native, const std::string& place,
                          const ListenOptions& options) {
  const auto* address = reinterpret_cast<const sockaddr*>(&native);
  const int family = address->sa_family;
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const auto fail = [&] {
    const int code = errno;
    if (descriptor >= 0) ::close(descriptor);
    throw InputOutputError("listen at " + place, code);
  };
  if (descriptor < 0) fail();
  if (family == AF_INET) set_option(descriptor, SOL_SOCKET, SO_REUSEADDR);
  if (options.reuse_port) set_option(descriptor, SOL_SOCKET, SO_REUSEPORT);
  if (::bind(descriptor, address, sizeof native) != 0) fail();
  if (::listen(descriptor, options.backlog) != 0) fail();
  return descriptor;
}

sockaddr_un to_native(const PipePath& path) {
  sockaddr_un native = {};
  native.sun_family = AF_UNIX;
  std::memcpy(native.sun_path, path.text().c_str(), path.text().size() + 1);
  return native;
}

template <class Socket>
Ref<StreamHandle> adopted(Loop& loop, int descriptor) {
  auto stream = Ref<Socket>::adopt(*new Socket(loop));
  stream->adopt(descriptor);
  return Ref<StreamHandle>::adopt(*stream.detach());
}

}  // namespace

// --- what they have in common ---

Listener::Listener(Loop& loop, int descriptor, const std::string& place,
                   const ListenOptions& options)
    : ListenerHandle(loop.attachment(), options),
      loop_(loop),
      descriptor_(descriptor),
      accepts_per_turn_(options.accepts_per_turn) {
  if (const int code = uv_poll_init(loop.get(), &poll_, descriptor_); code < 0) {
    ::close(descriptor_);
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
  check(poll(), "watch a listener");
  loop_.watch(*this);
}

void Listener::pause_accepting() noexcept {
  loop_.unwatch(*this);
  uv_poll_stop(&poll_);
}

void Listener::accept_some() noexcept {
  for (int i = 0; i < accepts_per_turn_ && accepting(); ++i) {
    const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      if (errno == EAGAIN) return;
      accept_failed(errno);
      continue;
    }
    Ref<StreamHandle> stream;
    try {
      stream = adopt(descriptor);
    } catch (const InputOutputError& error) {
      ::close(descriptor);
      accept_failed(error.code());
      continue;
    }
    accepted(std::move(stream));
  }
}

void Listener::close_backend() noexcept {
  before_close();
  loop_.unwatch(*this);
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), [](uv_handle_t* handle) noexcept {
    auto& listener = *static_cast<Listener*>(handle->data);
    ::close(listener.descriptor_);
    listener.loop_.complete([&listener] { listener.close_acknowledged(); });
  });
}

// --- TCP ---

TcpListener::TcpListener(Loop& loop, const Address& address, const ListenOptions& options)
    : Listener(loop, open_listening_socket(detail::to_native(address), address.text(), options),
               address.text(), options) {}

Address TcpListener::local_address() const { return local_address_of(descriptor()); }

Ref<StreamHandle> TcpListener::adopt(int descriptor) {
  return adopted<TcpSocket>(loop(), descriptor);
}

// --- Unix sockets ---

PipeListener::PipeListener(Loop& loop, const PipePath& path, const ListenOptions& options)
    : Listener(loop, open_listening_socket(to_native(path), path.text(), options), path.text(),
               options),
      path_(path) {}

Ref<StreamHandle> PipeListener::adopt(int descriptor) { return adopted<Pipe>(loop(), descriptor); }

void PipeListener::before_close() noexcept { ::unlink(path_.text().c_str()); }

}  // namespace fermata::uv::detail
