// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/address.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "fermata/base/error.hpp"

namespace fermata {

namespace {

/// A decimal number of `text`, all of it, without sign or leading zeros.
std::optional<std::uint32_t> number(std::string_view text, std::uint32_t max) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value > max) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return value;
}

std::optional<std::uint32_t> ipv4(std::string_view text) {
  std::uint32_t ip = 0;
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = text.find('.');
    if ((dot == std::string_view::npos) != (part == 3)) return std::nullopt;
    const auto byte = number(text.substr(0, dot), 255);
    if (!byte) return std::nullopt;
    ip = ip << 8 | *byte;
    text.remove_prefix(part == 3 ? text.size() : dot + 1);
  }
  return ip;
}

}  // namespace

Address::Address(std::string_view ip, std::uint16_t port) : port_(port) {
  const auto parsed = ipv4(ip);
  if (!parsed) {
    throw UsageError(
        fmt::format("address '{}': expected a numeric IPv4 address, as 127.0.0.1", ip));
  }
  ip_ = *parsed;
}

Address Address::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    throw UsageError(fmt::format("address '{}': expected ip:port, as 127.0.0.1:7777", text));
  }
  const auto port = number(text.substr(colon + 1), 65535);
  if (!port) {
    throw UsageError(fmt::format("address '{}': expected a port between 0 and 65535", text));
  }
  return Address(text.substr(0, colon), static_cast<std::uint16_t>(*port));
}

std::string Address::ip_text() const {
  return fmt::format("{}.{}.{}.{}", ip_ >> 24, ip_ >> 16 & 255, ip_ >> 8 & 255, ip_ & 255);
}

std::string Address::text() const { return fmt::format("{}:{}", ip_text(), port_); }

}  // namespace fermata
