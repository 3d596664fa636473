// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <limits>
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

std::optional<Address> ipv4(std::string_view text, std::uint16_t port) {
  std::uint32_t ip = 0;
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = text.find('.');
    if ((dot == std::string_view::npos) != (part == 3)) return std::nullopt;
    const auto byte = number(text.substr(0, dot), 255);
    if (!byte) return std::nullopt;
    ip = ip << 8 | *byte;
    text.remove_prefix(part == 3 ? text.size() : dot + 1);
  }
  return Address::v4(ip, port);
}

std::optional<Address> ipv6(std::string_view text, std::uint16_t port) {
  const std::size_t percent = text.find('%');
  std::optional<std::uint32_t> scope = 0;
  if (percent != std::string_view::npos) {
    scope = number(text.substr(percent + 1), std::numeric_limits<std::uint32_t>::max());
  }
  Address::Bytes bytes;
  const std::string ip(text.substr(0, percent));
  const bool is_ip =
      ip.find('\0') == std::string::npos && ::inet_pton(AF_INET6, ip.c_str(), bytes.data()) == 1;
  if (!is_ip || !scope) return std::nullopt;
  return Address::v6(bytes, port, *scope);
}

}  // namespace

Address::Address(std::string_view ip, std::uint16_t port) {
  const bool is_v6 = ip.find(':') != std::string_view::npos;
  const auto parsed = is_v6 ? ipv6(ip, port) : ipv4(ip, port);
  if (!parsed) {
    throw UsageError(
        fmt::format("address '{}': expected a numeric IP address, as 127.0.0.1 or fd00::7", ip));
  }
  *this = *parsed;
}

Address Address::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view ip = text.substr(0, colon);
  const bool in_brackets = ip.size() >= 2 && ip.front() == '[' && ip.back() == ']';
  if (colon == std::string_view::npos || (ip.find(':') != std::string_view::npos) != in_brackets) {
    throw UsageError(
        fmt::format("address '{}': expected ip:port, as 127.0.0.1:7777 or [fd00::7]:7777", text));
  }
  const auto port = number(text.substr(colon + 1), 65535);
  if (!port) {
    throw UsageError(fmt::format("address '{}': expected a port between 0 and 65535", text));
  }
  if (in_brackets) ip = ip.substr(1, ip.size() - 2);
  return Address(ip, static_cast<std::uint16_t>(*port));
}

std::string Address::ip_text() const {
  if (version_ == IpVersion::V4) {
    return fmt::format("{}.{}.{}.{}", bytes_[12], bytes_[13], bytes_[14], bytes_[15]);
  }
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const char* const written = ::inet_ntop(AF_INET6, bytes_.data(), text.data(), text.size());
  FERMATA_ASSERT(written != nullptr);
  return scope_ == 0 ? std::string(written) : fmt::format("{}%{}", written, scope_);
}

std::string Address::text() const {
  return version_ == IpVersion::V4 ? fmt::format("{}:{}", ip_text(), port_)
                                   : fmt::format("[{}]:{}", ip_text(), port_);
}

}  // namespace fermata
