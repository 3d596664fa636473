// SPDX-License-Identifier: Apache-2.0
#pragma once

// The addresses of simulated machines, and which traffic a socket that is bound at an address gets.
//
// Version 6  A machine with the address 10.0.0.1 also has fd00::a00:1: the same number behind
//            fd00::/96. Whoever is bound at :: gets both versions, as on Linux, where addresses of
//            version 4 are then seen mapped (::ffff:10.0.0.1). On the way they are never mapped.

#include <cstdint>
#include <optional>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/address.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

inline constexpr std::uint32_t kLoopback = 0x7f000001;  // 127.0.0.1

/// The address of this version of the machine with the number `host`, which may be kLoopback.
[[nodiscard]] Address host_address(IpVersion version, std::uint32_t host, std::uint16_t port);

/// The number of the machine that `address` belongs to, of either version; kLoopback or another
/// of 127.0.0.0/8 for a loopback address, 0 for any, none when no machine can have it.
[[nodiscard]] std::optional<std::uint32_t> host_number(const Address& address) noexcept;

/// The machine that `address` means on `from`; null when no machine has it.
[[nodiscard]] inline Machine* machine_at(Machine& from, const Address& address) noexcept {
  const std::optional<std::uint32_t> host = host_number(address);
  return host ? from.peer(*host) : nullptr;
}

/// Whether a socket of `machine` can be bound at `address`.
[[nodiscard]] inline bool is_own(const Machine& machine, const Address& address) noexcept {
  return address.is_any() || address.is_loopback() || host_number(address) == machine.ip();
}

/// What a socket of `version` sees of `address`. REQUIRES: it can see it.
[[nodiscard]] inline Address seen_by(IpVersion version, const Address& address) noexcept {
  const Address seen = version == IpVersion::V4 ? address.unmapped() : address.mapped();
  FERMATA_ASSERT(seen.version() == version);
  return seen;
}

/// Whether what is bound at `bound` gets what goes by `version`.
[[nodiscard]] constexpr bool gets(const Address& bound, IpVersion version) noexcept {
  const bool is_dual = bound.is_any() && bound.unmapped().version() == IpVersion::V6;
  return is_dual || bound.unmapped().version() == version;
}

/// Whether they are the same but for their ports and for being mapped.
[[nodiscard]] constexpr bool same_ip(const Address& a, const Address& b) noexcept {
  return a.unmapped().with_port(0) == b.unmapped().with_port(0);
}

}  // namespace fermata::sim::detail
