// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/socket_address.hpp"

#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "fermata/base/assert.hpp"
#include "fermata/os/socket_address.hpp"

namespace fermata::sim::detail {

namespace {

constexpr socklen_t kPathAt = offsetof(sockaddr_un, sun_path);

void write(const void* whole, socklen_t whole_size, sockaddr* address, socklen_t* size) noexcept {
  if (address == nullptr || size == nullptr) return;
  std::memcpy(address, whole, std::min(*size, whole_size));
  *size = whole_size;
}

}  // namespace

std::optional<Address> ip_address(int family, const sockaddr* address, socklen_t size,
                                  int& code) noexcept {
  FERMATA_ASSERT(family == AF_INET || family == AF_INET6);
  // An address of IPv6 may come without its scope, as it was before RFC 2553.
  constexpr socklen_t kLeastOfV6 = offsetof(sockaddr_in6, sin6_scope_id);
  const socklen_t least = family == AF_INET ? socklen_t{sizeof(sockaddr_in)} : kLeastOfV6;
  code = EINVAL;
  if (address == nullptr || size < least) return std::nullopt;
  code = EAFNOSUPPORT;
  if (address->sa_family != family) return std::nullopt;
  code = 0;
  sockaddr_storage whole = {};
  std::memcpy(&whole, address, std::min<std::size_t>(size, sizeof whole));
  return os::from_native(reinterpret_cast<const sockaddr&>(whole));
}

std::optional<std::string> unix_path(const sockaddr* address, socklen_t size, int& code) {
  code = EINVAL;
  if (address == nullptr || size < kPathAt || size > sizeof(sockaddr_un)) return std::nullopt;
  if (address->sa_family != AF_UNIX) return std::nullopt;
  code = 0;
  const auto* const begin = reinterpret_cast<const char*>(address) + kPathAt;
  const std::size_t room = size - kPathAt;
  if (room == 0) return std::string();
  if (*begin == '\0') return '@' + std::string(begin + 1, room - 1);
  return std::string(begin, ::strnlen(begin, room));
}

sockaddr_storage spelled(const Address& value) noexcept { return os::NativeAddress(value).storage; }

void spell(const Address& value, sockaddr* address, socklen_t* size) noexcept {
  const os::NativeAddress native(value);
  write(&native.storage, native.size, address, size);
}

void spell_unix(const std::string& path, sockaddr* address, socklen_t* size) noexcept {
  sockaddr_un native = {};
  native.sun_family = AF_UNIX;
  socklen_t whole = kPathAt;
  if (!path.empty()) {
    FERMATA_ASSERT(path.size() <= sizeof native.sun_path);
    std::memcpy(native.sun_path, path.data(), path.size());
    const bool is_abstract = path.front() == '@';
    if (is_abstract) native.sun_path[0] = '\0';
    whole += static_cast<socklen_t>(path.size() + (is_abstract ? 0 : 1));
    whole = std::min<socklen_t>(whole, sizeof native);
  }
  write(&native, whole, address, size);
}

}  // namespace fermata::sim::detail
