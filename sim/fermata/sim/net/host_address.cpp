// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/host_address.hpp"

#include <algorithm>
#include <array>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::array<std::uint8_t, 12> kNetwork = {0xfd};  // fd00::/96

}  // namespace

Address host_address(IpVersion version, std::uint32_t host, std::uint16_t port) {
  FERMATA_ASSERT(host != 0);
  const Address four = Address::v4(host, port);
  if (version == IpVersion::V4) return four;
  if (four.is_loopback()) return Address("::1", port);
  Address::Bytes bytes = four.bytes();
  std::copy(kNetwork.begin(), kNetwork.end(), bytes.begin());
  const Address six = Address::v6(bytes, port);
  FERMATA_ASSERT(host_number(six) == host);
  return six;
}

std::optional<std::uint32_t> host_number(const Address& address) noexcept {
  const Address plain = address.unmapped();
  if (plain.version() == IpVersion::V4) return plain.v4_number();
  if (plain.is_any()) return 0;
  if (plain.is_loopback()) return kLoopback;
  Address::Bytes bytes = plain.bytes();
  if (!std::equal(kNetwork.begin(), kNetwork.end(), bytes.begin())) return std::nullopt;
  const Address::Bytes prefix = Address().bytes();
  std::copy_n(prefix.begin(), kNetwork.size(), bytes.begin());
  const Address four = Address::v6(bytes, 0).unmapped();
  // What means the machine itself in version 4 means nothing behind fd00::.
  const bool is_of_a_machine = !four.is_any() && !four.is_loopback();
  return is_of_a_machine ? std::optional(four.v4_number()) : std::nullopt;
}

}  // namespace fermata::sim::detail
