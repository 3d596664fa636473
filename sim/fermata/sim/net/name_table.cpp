// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/name_table.hpp"
#include "fermata/sim/net/host_address.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace fermata::sim::detail {

namespace {

struct Service {
  std::string_view name;
  std::uint16_t port;
};

constexpr std::array<Service, 9> kServices = {{
    {"ftp", 21},
    {"ssh", 22},
    {"telnet", 23},
    {"smtp", 25},
    {"domain", 53},
    {"http", 80},
    {"https", 443},
    {"mysql", 3306},
    {"postgresql", 5432},
}};

}  // namespace

std::string_view NameTable::host_of(const Address& address) const {
  for (const auto& [host, addresses] : hosts_) {
    const bool has = std::any_of(addresses.begin(), addresses.end(),
                                 [&](const Address& each) { return same_ip(each, address); });
    if (has) return host;
  }
  return {};
}

std::optional<std::uint16_t> NameTable::port_of(std::string_view service) noexcept {
  std::uint16_t port = 0;
  const char* const end = service.data() + service.size();
  const auto [rest, error] = std::from_chars(service.data(), end, port);
  if (error == std::errc() && rest == end) return port;
  for (const Service& each : kServices) {
    if (each.name == service) return each.port;
  }
  return std::nullopt;
}

std::string NameTable::service_of(std::uint16_t port) {
  for (const Service& each : kServices) {
    if (each.port == port) return std::string(each.name);
  }
  return std::to_string(port);
}

}  // namespace fermata::sim::detail
