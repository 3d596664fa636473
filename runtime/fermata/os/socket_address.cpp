// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/socket_address.hpp"

#include "fermata/system/system_calls.hpp"

namespace fermata::os {

namespace {

Address asked(int descriptor, int (*ask)(int, sockaddr*, socklen_t*)) noexcept {
  sockaddr_in native = {};
  socklen_t size = sizeof native;
  if (ask(descriptor, reinterpret_cast<sockaddr*>(&native), &size) != 0) return {};
  return from_native(native);
}

}  // namespace

Address local_address_of(int descriptor) noexcept { return asked(descriptor, kernel.getsockname); }

Address peer_address_of(int descriptor) noexcept { return asked(descriptor, kernel.getpeername); }

}  // namespace fermata::os
