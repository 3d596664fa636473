// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fermata {

/// A place that TCP connects to or listens at, or that a datagram comes from or goes to: a numeric
/// IPv4 address and a port. A value.
class Address {
 public:
  /// 0.0.0.0, port 0.
  constexpr Address() noexcept = default;
  constexpr Address(std::uint32_t ip, std::uint16_t port) noexcept : ip_(ip), port_(port) {}

  /// Port 0 lets the kernel choose. Throws UsageError unless `ip` is "a.b.c.d" in decimal.
  Address(std::string_view ip, std::uint16_t port);

  /// From "127.0.0.1:7777". Throws UsageError that says what was expected.
  [[nodiscard]] static Address parse(std::string_view text);

  /// In host order: 127.0.0.1 is 0x7f000001.
  [[nodiscard]] constexpr std::uint32_t ip() const noexcept { return ip_; }
  [[nodiscard]] constexpr std::uint16_t port() const noexcept { return port_; }
  /// "127.0.0.1".
  [[nodiscard]] std::string ip_text() const;
  /// "127.0.0.1:7777".
  [[nodiscard]] std::string text() const;

  /// 127.0.0.0/8.
  [[nodiscard]] constexpr bool is_loopback() const noexcept { return ip_ >> 24 == 127; }
  /// 224.0.0.0/4.
  [[nodiscard]] constexpr bool is_multicast() const noexcept { return ip_ >> 28 == 0xe; }
  /// 255.255.255.255.
  [[nodiscard]] constexpr bool is_broadcast() const noexcept { return ip_ == 0xffffffff; }

  friend constexpr auto operator<=>(const Address&, const Address&) = default;

 private:
  std::uint32_t ip_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace fermata
