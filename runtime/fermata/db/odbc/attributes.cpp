// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fermata::db::odbc {

namespace {

bool made_of(std::string_view text, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return letter || (c >= '0' && c <= '9') || more.find(c) != std::string_view::npos;
  });
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<AttributeCommand> attribute_command(std::string_view product, std::string_view name,
                                                  std::string_view value) {
  if (product == "PostgreSQL") {
    return AttributeCommand{.sql = "SELECT set_config($1, $2, false)", .parameters = {name, value}};
  }
  // Other values than numbers are quoted, and have nothing in them that ends a quote.
  if (!made_of(name, "") || !made_of(value, " ,.+-/:@")) return std::nullopt;
  const std::string quoted = is_number(value) ? std::string(value) : fmt::format("'{}'", value);
  if (product == "SQLite") return AttributeCommand{fmt::format("PRAGMA {} = {}", name, quoted), {}};
  if (product == "MariaDB" || product == "MySQL") {
    return AttributeCommand{fmt::format("SET SESSION {} = {}", name, quoted), {}};
  }
  return std::nullopt;
}

}  // namespace fermata::db::odbc
