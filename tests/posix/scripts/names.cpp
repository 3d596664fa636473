// SPDX-License-Identifier: Apache-2.0

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/posix/scripts/names.hpp"

namespace fermata::test {

namespace {

int type_of(int descriptor) {
  int type = -1;
  socklen_t size = sizeof type;
  static_cast<void>(::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size));
  return type;
}

in_port_t port_of(int descriptor) {
  Name found;
  const bool known = ::getsockname(descriptor, &found.any, &found.size) == 0 && is_ip(found);
  return known ? found.ip.sin_port : in_port_t{0};
}

}  // namespace

Name path_of(std::uint64_t number) {
  static const std::string unique = fmt::format("fermata-{}-", ::getpid());
  const std::string text = unique + fmt::to_string(number);
  Name name;
  name.path.sun_family = AF_UNIX;
  std::memcpy(name.path.sun_path + 1, text.data(), text.size());
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

Name loopback(in_port_t port, bool ipv6) {
  Name name;
  if (ipv6) {
    name.ipv6.sin6_family = AF_INET6;
    name.ipv6.sin6_addr = in6addr_loopback;
    name.ipv6.sin6_port = port;
    name.size = sizeof name.ipv6;
  } else {
    name.ip.sin_family = AF_INET;
    name.ip.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.ip.sin_port = port;
    name.size = sizeof name.ip;
  }
  return name;
}

bool is_ip(const Name& name) {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  return name.any.sa_family == AF_INET || name.any.sa_family == AF_INET6;
}

Name address_of(int descriptor, int for_descriptor, bool ipv6) {
  const in_port_t port = port_of(descriptor);
  const bool is_same = type_of(descriptor) == SOCK_STREAM && port == port_of(for_descriptor);
  const bool fits = type_of(descriptor) == type_of(for_descriptor) && port != 0 && !is_same;
  return loopback(fits ? port : htons(1), ipv6);
}

std::string name_text(const Name& name) {
  if (is_ip(name)) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* const address = name.any.sa_family == AF_INET
                                    ? static_cast<const void*>(&name.ip.sin_addr)
                                    : static_cast<const void*>(&name.ipv6.sin6_addr);
    ::inet_ntop(name.any.sa_family, address, text.data(), text.size());
    return fmt::format("{} bytes, {} port {}", name.size, text.data(),
                       name.ip.sin_port == 0 ? "0" : "some");
  }
  const std::size_t length = name.size - offsetof(sockaddr_un, sun_path);
  const bool named = name.any.sa_family == AF_UNIX && length > 0;
  return fmt::format("family {}{}", name.any.sa_family,
                     named ? fmt::format(", path {}", name.path.sun_path[length - 1]) : "");
}

}  // namespace fermata::test
