// SPDX-License-Identifier: Apache-2.0
#pragma once

// Between the program's types and cells.
//
// Parameters   bool, integers, floating point, text, bytes, nullptr, Value, and std::optional of
// them. Columns      The same by value; text is taken as a number, and a number as text, where it
// says so
//              exactly; NULL only as std::optional, Null or Value.
// Rows         A std::tuple or std::pair of columns; an aggregate of as many fields, 12 at most;
// std::vector<Value>
//              of any number; a single column as itself.

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "fermata/db/aggregate.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/value.hpp"

namespace fermata::db {

/// A row of any number of columns of any kind.
using Values = std::vector<Value>;

namespace detail {

/// Where a row comes from, for errors.
struct RowSource {
  const std::string* database;
  const std::vector<std::string>* columns;
};

[[noreturn]] void throw_bad_column(const RowSource& source, std::size_t column, const Cell& cell,
                                   std::string_view expected);
[[noreturn]] void throw_bad_width(const RowSource& source, std::size_t width, std::size_t expected);
[[noreturn]] void throw_bad_count(const std::string& database, std::string_view count);
[[noreturn]] void throw_bad_integer(const std::string& database, std::uint64_t value);

// --- parameters ---

template <class T>
Cell to_cell(const std::string& database, const T& value) {
  if constexpr (kIsOptional<T>) {
    return value ? to_cell(database, *value) : Cell(Null());
  } else if constexpr (std::same_as<T, std::nullptr_t> || std::same_as<T, std::nullopt_t>) {
    return Null();
  } else if constexpr (std::same_as<T, Value>) {
    return view(value);
  } else if constexpr (std::same_as<T, Cell> || std::same_as<T, bool> || std::same_as<T, Null>) {
    return value;
  } else if constexpr (std::integral<T>) {
    if (std::in_range<std::int64_t>(value)) return static_cast<std::int64_t>(value);
    throw_bad_integer(database, static_cast<std::uint64_t>(value));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return std::string_view(value);
  } else {
    static_assert(std::convertible_to<const T&, BytesView>,
                  "a parameter of a kind no database has");
    return BytesView(value);
  }
}

// --- columns ---

/// Exactly the number that `text` says; nothing when it says none, or another.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

template <std::integral T>
std::optional<T> to_integer(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    if (std::in_range<T>(*integer)) return static_cast<T>(*integer);
  } else if (const auto* text = std::get_if<std::string_view>(&cell)) {
    return parse_number<T>(*text);
  } else if (const auto* truth = std::get_if<bool>(&cell)) {
    return static_cast<T>(*truth);
  }
  return std::nullopt;
}

[[nodiscard]] std::optional<bool> to_bool(const Cell& cell);
[[nodiscard]] std::optional<double> to_double(const Cell& cell);
[[nodiscard]] std::optional<std::string> to_text(const Cell& cell);
[[nodiscard]] std::optional<Bytes> to_bytes(const Cell& cell);

template <class T>
T from_cell(const RowSource& source, std::size_t column, const Cell& cell) {
  const auto require = [&](auto converted, std::string_view expected) {
    if (!converted) throw_bad_column(source, column, cell, expected);
    return *std::move(converted);
  };
  if constexpr (kIsOptional<T>) {
    if (std::holds_alternative<Null>(cell)) return std::nullopt;
    return from_cell<typename T::value_type>(source, column, cell);
  } else if constexpr (std::same_as<T, Value>) {
    return own(cell);
  } else if constexpr (std::same_as<T, bool>) {
    return require(to_bool(cell), "a truth value");
  } else if constexpr (std::integral<T>) {
    return require(to_integer<T>(cell), "an integer in range");
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(require(to_double(cell), "a number"));
  } else if constexpr (std::same_as<T, std::string>) {
    return require(to_text(cell), "text");
  } else {
    static_assert(std::same_as<T, Bytes>, "a column of a kind no database has");
    return require(to_bytes(cell), "bytes");
  }
}

// --- rows ---

template <class T>
concept SingleColumn = std::is_arithmetic_v<T> || std::same_as<T, std::string> ||
    std::same_as<T, Bytes> || std::same_as<T, Value> || kIsOptional<T>;

template <class T>
concept TupleRow = requires {
  std::tuple_size<T>::value;
};

template <class Row>
Row to_row(const RowSource& source, const std::vector<Cell>& row) {
  const auto require_width = [&](std::size_t width) {
    if (row.size() != width) throw_bad_width(source, row.size(), width);
  };
  if constexpr (std::same_as<Row, Values>) {
    Values values;
    values.reserve(row.size());
    for (const Cell& cell : row) values.push_back(own(cell));
    return values;
  } else if constexpr (SingleColumn<Row>) {
    require_width(1);
    return from_cell<Row>(source, 0, row[0]);
  } else if constexpr (TupleRow<Row>) {
    constexpr std::size_t kWidth = std::tuple_size_v<Row>;
    require_width(kWidth);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Row{from_cell<std::tuple_element_t<I, Row>>(source, I, row[I])...};
    }
    (std::make_index_sequence<kWidth>());
  } else {
    static_assert(std::is_aggregate_v<Row>, "a row is a tuple, an aggregate or a single column");
    constexpr std::size_t kWidth = field_count<Row>();
    require_width(kWidth);
    Row result{};
    const auto fields = fields_of<kWidth>(result);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((std::get<I>(fields) =
            from_cell<std::decay_t<decltype(std::get<I>(fields))>>(source, I, row[I])),
       ...);
    }
    (std::make_index_sequence<kWidth>());
    return result;
  }
}

}  // namespace detail
}  // namespace fermata::db
