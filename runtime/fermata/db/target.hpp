// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fermata::db {

/// The parts of a URL SCHEME://[USER[:PASSWORD]@][HOST[:PORT]]/DATABASE[?NAME=VALUE&...].
/// Everything is percent-decoded. A driver gets a copy of its own, which it may change (DB-19).
struct Target {
  std::string scheme;
  std::string user;
  std::string password;
  std::string host;  // Empty when the URL names none; an IPv6 address has no brackets here.
  std::optional<std::uint16_t> port;
  std::string database;  // What comes after the slash.
  std::vector<std::pair<std::string, std::string>> options;

  /// The value of the last option called `name`; null when there is none.
  [[nodiscard]] const std::string* option(std::string_view name) const noexcept;
  /// The URL without the password and without options, for people.
  [[nodiscard]] std::string text() const;
};

/// Throws UsageError, which says what is wrong and never shows a password.
[[nodiscard]] Target parse_url(std::string_view url);

}  // namespace fermata::db
