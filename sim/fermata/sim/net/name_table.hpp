// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a simulated name service knows beyond the names of the nodes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/reactor/address.hpp"

namespace fermata::sim::detail {

class NameTable {
 public:
  void reset() noexcept { hosts_.clear(); }

  /// From now on `host` has these addresses, whatever their ports; none means that there is no such
  /// host, even when a node is called so.
  void set(std::string_view host, std::vector<Address> addresses) {
    hosts_.insert_or_assign(std::string(host), std::move(addresses));
  }

  /// The addresses of `host`, or null.
  [[nodiscard]] const std::vector<Address>* find(std::string_view host) const {
    const auto found = hosts_.find(host);
    return found == hosts_.end() ? nullptr : &found->second;
  }
  /// A host with this address, the first by name; empty without one.
  [[nodiscard]] std::string_view host_of(const Address& address) const;

  /// The port of a well-known service, or of a number in figures.
  [[nodiscard]] static std::optional<std::uint16_t> port_of(std::string_view service) noexcept;
  /// The well-known service on `port`, or the port in figures.
  [[nodiscard]] static std::string service_of(std::uint16_t port);

 private:
  std::map<std::string, std::vector<Address>, std::less<>> hosts_;
};

}  // namespace fermata::sim::detail
