// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/db/errors.hpp"
#include "fermata/db/sql_text.hpp"

namespace fermata::db::odbc {

namespace {

constexpr std::size_t kLargest = (std::size_t{1} << 30) - 1;
constexpr std::size_t kMostParameters = 65'535;
/// What is longer has a type of its own for some databases.
constexpr std::size_t kLong = 8000;

/// A place for what is empty: there, too, drivers want an address.
char* address_of(void* data, std::size_t size) {
  static char nothing = 0;
  return size == 0 ? &nothing : static_cast<char*>(data);
}

[[noreturn]] void refuse(std::string_view database, std::string_view message) {
  throw ParameterError(database, sqlstate::kBadParameters, message);
}

/// What begins with -- and a space is a comment everywhere.
std::string without_line_comments(std::string_view sql) {
  std::string rest;
  while (!sql.empty()) {
    const std::size_t length = std::max<std::size_t>(quoted_length(sql), 1);
    if (sql.starts_with("-- ")) {
      rest += '\n';
    } else {
      rest += sql.substr(0, length);
    }
    sql.remove_prefix(length);
  }
  return rest;
}

void check_parameter(const Cell& cell, std::size_t number, std::string_view database) {
  std::size_t size = 0;
  if (const auto* text = std::get_if<std::string_view>(&cell)) {
    if (text->find('\0') != std::string_view::npos) {
      refuse(database, fmt::format("parameter ${}: text with NUL cannot be sent", number));
    }
    size = text->size();
  } else if (const auto* bytes = std::get_if<BytesView>(&cell)) {
    size = bytes->size();
  }
  if (size > kLargest) {
    refuse(database, fmt::format("parameter ${}: has {} bytes, at most {} can be sent", number,
                                 size, kLargest));
  }
}

}  // namespace

BoundParameters::BoundParameters(const Placeholders& command, Parameters parameters,
                                 std::string_view database) {
  if (parameters.size() != command.count) {
    refuse(database, fmt::format("the command has {} parameters, {} were given", command.count,
                                 parameters.size()));
  }
  if (command.order.size() > kMostParameters) {
    refuse(database, fmt::format("the command uses parameters {} times, at most {} can be sent",
                                 command.order.size(), kMostParameters));
  }
  values_.reserve(parameters.size());
  for (const Cell& cell : parameters) {
    check_parameter(cell, values_.size() + 1, database);
    values_.push_back(own(cell));
  }
  places_.reserve(command.order.size());
  for (const std::size_t number : command.order) places_.push_back({.value = number - 1});
}

bool BoundParameters::bind(SQLHSTMT statement) {
  SQLUSMALLINT number = 0;
  for (Place& place : places_) {
    ++number;
    if (!SQL_SUCCEEDED(bind(statement, number, values_[place.value], place.length))) return false;
  }
  return true;
}

SQLRETURN BoundParameters::bind(SQLHSTMT statement, SQLUSMALLINT number, Value& value,
                                SQLLEN& length) {
  const auto bind_as = [&](SQLSMALLINT c_type, SQLSMALLINT sql_type, std::size_t digits, void* data,
                           std::size_t size) {
    length = static_cast<SQLLEN>(size);
    return SQLBindParameter(statement, number, SQL_PARAM_INPUT, c_type, sql_type, digits, 0,
                            address_of(data, size), length, &length);
  };
  if (auto* truth = std::get_if<bool>(&value)) {
    static_assert(sizeof *truth == sizeof(SQLCHAR));
    return bind_as(SQL_C_BIT, SQL_BIT, 1, truth, sizeof *truth);
  }
  if (auto* integer = std::get_if<std::int64_t>(&value)) {
    return bind_as(SQL_C_SBIGINT, SQL_BIGINT, 19, integer, sizeof *integer);
  }
  if (auto* real = std::get_if<double>(&value)) {
    return bind_as(SQL_C_DOUBLE, SQL_DOUBLE, 15, real, sizeof *real);
  }
  if (auto* text = std::get_if<std::string>(&value)) {
    const SQLSMALLINT type = text->size() > kLong ? SQL_LONGVARCHAR : SQL_VARCHAR;
    return bind_as(SQL_C_CHAR, type, std::max<std::size_t>(text->size(), 1), text->data(),
                   text->size());
  }
  if (auto* bytes = std::get_if<Bytes>(&value)) {
    const SQLSMALLINT type = bytes->size() > kLong ? SQL_LONGVARBINARY : SQL_VARBINARY;
    return bind_as(SQL_C_BINARY, type, std::max<std::size_t>(bytes->size(), 1), bytes->data(),
                   bytes->size());
  }
  const SQLRETURN status = bind_as(SQL_C_CHAR, SQL_VARCHAR, 1, nullptr, 0);
  length = SQL_NULL_DATA;  // Is looked at when the command is executed.
  return status;
}

Placeholders positional_command(std::string_view sql, std::string_view database) {
  if (sql.find('\0') != std::string_view::npos) {
    refuse(database, "a command with NUL cannot be sent");
  }
  if (sql.size() > kLargest) {
    refuse(database,
           fmt::format("the command has {} bytes, at most {} can be sent", sql.size(), kLargest));
  }
  return replace_placeholders(without_line_comments(sql), PlaceholderStyle::Positional);
}

}  // namespace fermata::db::odbc
