// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/socket_address.hpp"

#include <cstring>

#include "fermata/base/assert.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

namespace {

Address asked(int descriptor, int (*ask)(int, sockaddr*, socklen_t*)) noexcept {
  sockaddr_storage native = {};
  socklen_t size = sizeof native;
  auto* const address = reinterpret_cast<sockaddr*>(&native);
  return ask(descriptor, address, &size) == 0 ? from_native(*address) : Address();
}

}  // namespace

NativeAddress::NativeAddress(const Address& address) noexcept {
  if (address.version() == IpVersion::V4) {
    sockaddr_in native = {};
    native.sin_family = AF_INET;
    native.sin_addr.s_addr = htonl(address.v4_number());
    native.sin_port = htons(address.port());
    size = sizeof native;
    std::memcpy(&storage, &native, size);
  } else {
    sockaddr_in6 native = {};
    native.sin6_family = AF_INET6;
    std::memcpy(&native.sin6_addr, address.bytes().data(), address.bytes().size());
    native.sin6_scope_id = address.scope();
    native.sin6_port = htons(address.port());
    size = sizeof native;
    std::memcpy(&storage, &native, size);
  }
  FERMATA_ASSERT(size <= sizeof storage);
}

Address from_native(const sockaddr& native) noexcept {
  if (native.sa_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(native);
    return Address::v4(ntohl(four.sin_addr.s_addr), ntohs(four.sin_port));
  }
  if (native.sa_family != AF_INET6) return {};
  const auto& six = reinterpret_cast<const sockaddr_in6&>(native);
  Address::Bytes bytes;
  std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
  return Address::v6(bytes, ntohs(six.sin6_port), six.sin6_scope_id);
}

Address local_address_of(int descriptor) noexcept { return asked(descriptor, kernel.getsockname); }

Address peer_address_of(int descriptor) noexcept { return asked(descriptor, kernel.getpeername); }

}  // namespace fermata::os
