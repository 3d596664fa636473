// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/columns.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::db::odbc {

namespace {

SQLCHAR* text_of(std::string& text) { return reinterpret_cast<SQLCHAR*>(text.data()); }

/// psqlODBC gives truth values as text of this type.
bool is_truth_by_name(SQLHSTMT statement, SQLUSMALLINT number) {
  std::string name(32, '\0');
  SQLSMALLINT length = 0;
  const SQLRETURN status = SQLColAttribute(statement, number, SQL_DESC_TYPE_NAME, text_of(name),
                                           static_cast<SQLSMALLINT>(name.size()), &length, nullptr);
  const std::string_view found = name.c_str();
  return SQL_SUCCEEDED(status) && (found == "bool" || found == "boolean");
}

ColumnKind kind_of_type(SQLSMALLINT type) {
  switch (type) {
    case SQL_BIT:
      return ColumnKind::Truth;
    case SQL_TINYINT:
    case SQL_SMALLINT:
    case SQL_INTEGER:
    case SQL_BIGINT:
      return ColumnKind::Integer;
    case SQL_REAL:
    case SQL_FLOAT:
    case SQL_DOUBLE:
      return ColumnKind::Number;
    case SQL_BINARY:
    case SQL_VARBINARY:
    case SQL_LONGVARBINARY:
      return ColumnKind::Bytes;
    default:
      return ColumnKind::Text;
  }
}

struct LongData {
  bool null = false;
  std::string data;
};

/// Text or bytes of any length, in as many pieces as the driver makes.
std::optional<LongData> read_long(SQLHSTMT statement, SQLUSMALLINT number, SQLSMALLINT c_type) {
  const std::size_t mark = c_type == SQL_C_CHAR ? 1 : 0;  // The NUL after each piece.
  std::string data;
  std::size_t used = 0;
  std::size_t piece = 1024;
  for (;;) {
    data.resize(used + piece + mark);
    SQLLEN said = 0;
    const SQLRETURN status = SQLGetData(statement, number, c_type, data.data() + used,
                                        static_cast<SQLLEN>(piece + mark), &said);
    if (status == SQL_NO_DATA) break;
    if (!SQL_SUCCEEDED(status)) return std::nullopt;
    if (said == SQL_NULL_DATA) return LongData{.null = true, .data = {}};
    const bool known = said >= 0;
    const std::size_t left = known ? static_cast<std::size_t>(said) : 0;
    if (known && left <= piece) {
      used += left;
      break;
    }
    // Some drivers do not fill the buffer, so as not to cut a character.
    used += c_type == SQL_C_CHAR ? strnlen(data.data() + used, piece) : piece;
    piece = known ? left : std::min<std::size_t>(piece * 2, std::size_t{1} << 24);
  }
  data.resize(used);
  return LongData{.null = false, .data = std::move(data)};
}

template <class T>
std::optional<T> parse(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || text.empty()) return std::nullopt;
  return value;
}

Value integer_in(std::string text) {
  if (const auto integer = parse<std::int64_t>(text)) return *integer;
  const bool only_digits = text.find_first_not_of("-0123456789") == std::string::npos;
  if (only_digits) return text;
  if (const auto real = parse<double>(text)) return *real;
  return text;
}

Value truth_in(std::string text) {
  if (text == "1" || text == "t" || text == "true") return true;
  if (text == "0" || text == "f" || text == "false") return false;
  return text;
}

std::optional<Value> read_number(SQLHSTMT statement, SQLUSMALLINT number) {
  double value = 0;
  SQLLEN said = 0;
  if (!SQL_SUCCEEDED(SQLGetData(statement, number, SQL_C_DOUBLE, &value, sizeof value, &said))) {
    return std::nullopt;
  }
  if (said != SQL_NULL_DATA) return value;
  // SQLite's driver says this of text in a column of numbers too, and gives the text then.
  std::array<char, 2> first{};
  const SQLRETURN again =
      SQLGetData(statement, number, SQL_C_CHAR, first.data(), first.size(), &said);
  if (!SQL_SUCCEEDED(again) || said == SQL_NULL_DATA) return Null{};
  std::string text = first.data();
  if (said != SQL_NO_TOTAL && said <= 1) return text;
  std::optional<LongData> rest = read_long(statement, number, SQL_C_CHAR);
  if (!rest) return std::nullopt;
  return text + rest->data;
}

}  // namespace

std::optional<Column> describe_column(SQLHSTMT statement, SQLUSMALLINT number) {
  FERMATA_ASSERT(number > 0);
  std::string name(128, '\0');
  SQLSMALLINT length = 0;
  SQLSMALLINT type = 0;
  const auto describe = [&] {
    return SQLDescribeCol(statement, number, text_of(name), static_cast<SQLSMALLINT>(name.size()),
                          &length, &type, nullptr, nullptr, nullptr);
  };
  SQLRETURN status = describe();
  if (SQL_SUCCEEDED(status) && static_cast<std::size_t>(length) >= name.size()) {
    name.resize(static_cast<std::size_t>(length) + 1);
    status = describe();
  }
  if (!SQL_SUCCEEDED(status)) return std::nullopt;
  ColumnKind kind = kind_of_type(type);
  if (kind == ColumnKind::Text && is_truth_by_name(statement, number)) kind = ColumnKind::Truth;
  return Column{.name = name.c_str(), .kind = kind};
}

std::optional<Value> read_cell(SQLHSTMT statement, SQLUSMALLINT number, ColumnKind kind) {
  FERMATA_ASSERT(number > 0);
  if (kind == ColumnKind::Number) return read_number(statement, number);
  const SQLSMALLINT c_type = kind == ColumnKind::Bytes ? SQL_C_BINARY : SQL_C_CHAR;
  std::optional<LongData> read = read_long(statement, number, c_type);
  if (!read) return std::nullopt;
  if (read->null) return Null{};
  std::string& text = read->data;
  switch (kind) {
    case ColumnKind::Truth:
      return truth_in(std::move(text));
    case ColumnKind::Integer:
      return integer_in(std::move(text));
    case ColumnKind::Bytes: {
      const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
      return Bytes(bytes, bytes + text.size());
    }
    default:
      return std::move(text);
  }
}

}  // namespace fermata::db::odbc
