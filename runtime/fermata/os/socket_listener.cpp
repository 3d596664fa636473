// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/socket_listener.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/socket_address.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

namespace {

void switch_on(int descriptor, int option) {
  const int on = 1;
  kernel.setsockopt(descriptor, SOL_SOCKET, option, &on, sizeof on);
}

/// A socket that listens at `address`; `place` is for the text of the InputOutputError.
int open_listening_socket(const sockaddr* address, socklen_t size, const std::string& place,
                          const ListenOptions& options) {
  const int family = address->sa_family;
  const int descriptor = kernel.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const auto fail = [&] {
    const int code = errno;
    if (descriptor >= 0) kernel.close(descriptor);
    throw InputOutputError("listen at " + place, code);
  };
  if (descriptor < 0) fail();
  if (family != AF_UNIX) switch_on(descriptor, SO_REUSEADDR);
  if (options.reuse_port) switch_on(descriptor, SO_REUSEPORT);
  if (family == AF_INET6) {  // Both versions at ::, however the system is set up.
    const int off = 0;
    kernel.setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (kernel.bind(descriptor, address, size) != 0) fail();
  if (kernel.listen(descriptor, options.backlog) != 0) fail();
  return descriptor;
}

sockaddr_un to_native(const backend::PipePath& path) {
  sockaddr_un native = {};
  native.sun_family = AF_UNIX;
  std::memcpy(native.sun_path, path.text().c_str(), path.text().size() + 1);
  return native;
}

}  // namespace

int listen_at(const Address& address, const ListenOptions& options) {
  const NativeAddress native(address);
  return open_listening_socket(native.get(), native.size, address.text(), options);
}

int listen_at(const backend::PipePath& path, const ListenOptions& options) {
  const sockaddr_un native = to_native(path);
  return open_listening_socket(reinterpret_cast<const sockaddr*>(&native), sizeof native,
                               path.text(), options);
}

void SocketListener::accept_some() noexcept {
  for (int i = 0; i < accepts_per_turn_ && is_accepting(); ++i) {
    const int descriptor =
        kernel.accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      take(descriptor);
    } else if (errno == EAGAIN) {
      return;
    } else {
      accept_failed(errno);
    }
  }
}

void SocketListener::take(int descriptor) noexcept {
  FERMATA_ASSERT(descriptor >= 0);
  Ref<backend::StreamHandle> stream;
  try {
    stream = adopt(descriptor);
  } catch (const InputOutputError& error) {
    kernel.close(descriptor);
    return accept_failed(error.code());
  }
  accepted(std::move(stream));
}

}  // namespace fermata::os
