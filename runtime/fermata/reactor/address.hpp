// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "fermata/base/assert.hpp"

namespace fermata {

enum class IpVersion : std::uint8_t { V4, V6 };

/// A place that TCP connects to or listens at, or that a datagram comes from or goes to: a numeric
/// IP address of version 4 or 6, and a port. A value.
class Address {
 public:
  /// The 16 bytes of an address of version 6, in network order.
  using Bytes = std::array<std::uint8_t, 16>;

  /// 0.0.0.0, port 0.
  constexpr Address() noexcept = default;
  /// Port 0 lets the kernel choose. Throws UsageError unless `ip` is "a.b.c.d" in decimal, or an
  /// address of version 6 as "fd00::7"; "fe80::7%2" is that address on interface 2.
  Address(std::string_view ip, std::uint16_t port);

  /// `ip` in host order: 127.0.0.1 is 0x7f000001.
  [[nodiscard]] static constexpr Address v4(std::uint32_t ip, std::uint16_t port) noexcept {
    Address address;
    for (std::size_t i = 0; i < 4; ++i) {
      address.bytes_[kPrefix.size() + i] = static_cast<std::uint8_t>(ip >> (24 - 8 * i));
    }
    address.port_ = port;
    return address;
  }
  /// `scope` is the number of the interface of a link-local address, 0 for any.
  [[nodiscard]] static constexpr Address v6(const Bytes& bytes, std::uint16_t port,
                                            std::uint32_t scope = 0) noexcept {
    Address address;
    address.version_ = IpVersion::V6;
    address.bytes_ = bytes;
    address.scope_ = scope;
    address.port_ = port;
    return address;
  }

  /// From "127.0.0.1:7777" or "[::1]:7777". Throws UsageError that says what was expected.
  [[nodiscard]] static Address parse(std::string_view text);

  [[nodiscard]] constexpr IpVersion version() const noexcept { return version_; }
  [[nodiscard]] constexpr std::uint16_t port() const noexcept { return port_; }
  /// The bytes of version 6; for an address of version 4, those of mapped().
  [[nodiscard]] constexpr const Bytes& bytes() const noexcept { return bytes_; }
  [[nodiscard]] constexpr std::uint32_t scope() const noexcept { return scope_; }
  /// In host order: 127.0.0.1 and ::ffff:127.0.0.1 are 0x7f000001. REQUIRES: it is one of those
  /// two kinds.
  [[nodiscard]] constexpr std::uint32_t v4_number() const noexcept {
    FERMATA_ASSERT(unmapped().version_ == IpVersion::V4);
    std::uint32_t number = 0;
    for (std::size_t i = kPrefix.size(); i < bytes_.size(); ++i) number = number << 8 | bytes_[i];
    return number;
  }

  /// "127.0.0.1", "::1".
  [[nodiscard]] std::string ip_text() const;
  /// "127.0.0.1:7777", "[::1]:7777".
  [[nodiscard]] std::string text() const;

  /// 0.0.0.0, ::, or ::ffff:0.0.0.0.
  [[nodiscard]] constexpr bool is_any() const noexcept {
    const Address plain = unmapped();
    return plain.bytes_ == (plain.version_ == IpVersion::V4 ? Address().bytes_ : Bytes());
  }
  /// 127.0.0.0/8, mapped or not, or ::1.
  [[nodiscard]] constexpr bool is_loopback() const noexcept {
    constexpr Bytes kLoopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    const bool is_v4 = unmapped().version_ == IpVersion::V4;
    return is_v4 ? bytes_[kPrefix.size()] == 127 : bytes_ == kLoopback;
  }
  /// 224.0.0.0/4, mapped or not, or ff00::/8.
  [[nodiscard]] constexpr bool is_multicast() const noexcept {
    const bool is_v4 = unmapped().version_ == IpVersion::V4;
    return is_v4 ? bytes_[kPrefix.size()] >> 4 == 0xe : bytes_[0] == 0xff;
  }
  /// 255.255.255.255, mapped or not.
  [[nodiscard]] constexpr bool is_broadcast() const noexcept {
    return unmapped().version_ == IpVersion::V4 && v4_number() == 0xffffffff;
  }

  /// 127.0.0.1 for ::ffff:127.0.0.1; itself for any other.
  [[nodiscard]] constexpr Address unmapped() const noexcept {
    const bool is_mapped = std::equal(kPrefix.begin(), kPrefix.end(), bytes_.begin());
    Address plain = *this;
    if (is_mapped) plain.version_ = IpVersion::V4;
    return plain;
  }
  /// ::ffff:127.0.0.1 for 127.0.0.1, as a socket of version 6 sees it (RFC 4291, 2.5.5.2); itself
  /// for one of version 6.
  [[nodiscard]] constexpr Address mapped() const noexcept {
    Address six = *this;
    six.version_ = IpVersion::V6;
    return six;
  }
  [[nodiscard]] constexpr Address with_port(std::uint16_t port) const noexcept {
    Address other = *this;
    other.port_ = port;
    return other;
  }

  friend constexpr auto operator<=>(const Address&, const Address&) = default;

 private:
  /// What mapped addresses begin with.
  static constexpr std::array<std::uint8_t, 12> kPrefix = {0, 0, 0, 0, 0,    0,
                                                           0, 0, 0, 0, 0xff, 0xff};

  IpVersion version_ = IpVersion::V4;
  Bytes bytes_ = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0};
  std::uint32_t scope_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace fermata
