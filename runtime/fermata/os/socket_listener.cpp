// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/socket_listener.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/os/socket_address.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

namespace {

void switch_on(int descriptor, int option) {
  const int on = 1;
  kernel.setsockopt(descriptor, SOL_SOCKET, option, &on, sizeof on);
}

/// A socket that listens at `native`; `place` is for the text of the InputOutputError.
template <class Native>
int open_listening_socket(const Native& native, const std::string& place,
                          const ListenOptions& options) {
  const auto* address = reinterpret_cast<const sockaddr*>(&native);
  const int family = address->sa_family;
  const int descriptor = kernel.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const auto fail = [&] {
    const int code = errno;
    if (descriptor >= 0) kernel.close(descriptor);
    throw InputOutputError("listen at " + place, code);
  };
  if (descriptor < 0) fail();
  if (family == AF_INET) switch_on(descriptor, SO_REUSEADDR);
  if (options.reuse_port) switch_on(descriptor, SO_REUSEPORT);
  if (kernel.bind(descriptor, address, sizeof native) != 0) fail();
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
  return open_listening_socket(to_native(address), address.text(), options);
}

int listen_at(const backend::PipePath& path, const ListenOptions& options) {
  return open_listening_socket(to_native(path), path.text(), options);
}

void SocketListener::accept_some() noexcept {
  for (int i = 0; i < accepts_per_turn_ && is_accepting(); ++i) {
    const int descriptor =
        kernel.accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      if (errno == EAGAIN) return;
      accept_failed(errno);
      continue;
    }
    Ref<backend::StreamHandle> stream;
    try {
      stream = adopt(descriptor);
    } catch (const InputOutputError& error) {
      kernel.close(descriptor);
      accept_failed(error.code());
      continue;
    }
    accepted(std::move(stream));
  }
}

}  // namespace fermata::os
