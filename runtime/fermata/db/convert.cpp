// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/convert.hpp"

#include <fmt/format.h>

#include <cstring>

#include "fermata/base/assert.hpp"

namespace fermata::db::detail {

void throw_bad_column(const RowSource& source, std::size_t column, const Cell& cell,
                      std::string_view expected) {
  const std::string_view name =
      column < source.columns->size() ? std::string_view((*source.columns)[column]) : "";
  throw ColumnError(*source.database, sqlstate::kBadColumn,
                    fmt::format("column {} \"{}\" holds {}: expected {}", column + 1, name,
                                kind_of(cell), expected));
}

void throw_bad_width(const RowSource& source, std::size_t width, std::size_t expected) {
  FERMATA_ASSERT(width != expected);
  throw ColumnError(*source.database, sqlstate::kBadColumn,
                    fmt::format("a row of {} columns: expected {}", width, expected));
}

void throw_bad_count(const std::string& database, std::string_view count) {
  throw ColumnError(database, sqlstate::kBadCount,
                    fmt::format("expected exactly one row, got {}", count));
}

void throw_bad_integer(const std::string& database, std::uint64_t value) {
  throw ParameterError(database, sqlstate::kBadParameters,
                       fmt::format("parameter {}: expected at most {}", value,
                                   std::numeric_limits<std::int64_t>::max()));
}

std::optional<bool> to_bool(const Cell& cell) {
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth;
  const auto* integer = std::get_if<std::int64_t>(&cell);
  if (integer != nullptr && (*integer == 0 || *integer == 1)) return *integer == 1;
  return std::nullopt;
}

std::optional<double> to_double(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* text = std::get_if<std::string_view>(&cell)) return parse_number<double>(*text);
  return std::nullopt;
}

std::optional<std::string> to_text(const Cell& cell) {
  if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return fmt::to_string(*integer);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::to_string(*number);
  return std::nullopt;
}

std::optional<Bytes> to_bytes(const Cell& cell) {
  if (const auto* bytes = std::get_if<BytesView>(&cell)) return Bytes(bytes->begin(), bytes->end());
  if (const auto* text = std::get_if<std::string_view>(&cell)) {
    Bytes copy(text->size());
    if (!text->empty()) std::memcpy(copy.data(), text->data(), text->size());
    return copy;
  }
  return std::nullopt;
}

}  // namespace fermata::db::detail
