// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/mariadb/cells.hpp"

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "fermata/base/assert.hpp"

namespace fermata::db::mariadb {

namespace {

constexpr unsigned kBinaryCharset = 63;

ColumnKind kind_of_field(const MYSQL_FIELD& field) {
  switch (field.type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR:
      return ColumnKind::Integer;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
      return ColumnKind::Number;
    case MYSQL_TYPE_BIT:
      return ColumnKind::Bytes;
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB:
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_VAR_STRING:
    case MYSQL_TYPE_STRING:
      return field.charsetnr == kBinaryCharset ? ColumnKind::Bytes : ColumnKind::Text;
    default:
      return ColumnKind::Text;
  }
}

template <class T>
Cell number_in_text(std::string_view text) {
  T number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return text;
  return number;
}

}  // namespace

Columns::Columns(MYSQL_RES* result) {
  const unsigned count = result != nullptr ? mysql_num_fields(result) : 0;
  const MYSQL_FIELD* const fields = result != nullptr ? mysql_fetch_fields(result) : nullptr;
  for (unsigned i = 0; i < count; ++i) {
    names_.emplace_back(fields[i].name, fields[i].name_length);
    kinds_.push_back(kind_of_field(fields[i]));
  }
}

Cell Columns::cell(std::size_t column, std::string_view text) const {
  FERMATA_ASSERT(column < kinds_.size());
  switch (kinds_[column]) {
    case ColumnKind::Integer:
      return number_in_text<std::int64_t>(text);
    case ColumnKind::Number:
      return number_in_text<double>(text);
    case ColumnKind::Bytes:
      return std::as_bytes(std::span(text));
    case ColumnKind::Text:
      break;
  }
  return text;
}

Arguments::Arguments(Parameters parameters, const std::vector<std::size_t>& order)
    : lengths_(order.size()), binds_(order.size()) {
  for (const Cell& each : parameters) values_.push_back(own(each));
  for (std::size_t i = 0; i < order.size(); ++i) {
    MYSQL_BIND& bind = binds_[i];
    bind = {};
    FERMATA_ASSERT(0 < order[i] && order[i] <= values_.size());
    const auto put = [&](enum_field_types type, const void* data, std::size_t size) {
      lengths_[i] = size;
      bind.buffer_type = type;
      bind.buffer = const_cast<void*>(data != nullptr ? data : "");  // No bytes are not NULL.
      bind.buffer_length = size;
      bind.length = &lengths_[i];
    };
    std::visit(
        [&](auto& held) {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (std::is_same_v<Held, Null>) {
            put(MYSQL_TYPE_NULL, nullptr, 0);
          } else if constexpr (std::is_same_v<Held, bool>) {
            put(MYSQL_TYPE_TINY, &held, 1);
          } else if constexpr (std::is_same_v<Held, std::int64_t>) {
            put(MYSQL_TYPE_LONGLONG, &held, sizeof held);
          } else if constexpr (std::is_same_v<Held, double>) {
            put(MYSQL_TYPE_DOUBLE, &held, sizeof held);
          } else {
            put(std::is_same_v<Held, Bytes> ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING, held.data(),
                held.size());
            size_ += held.size();
          }
        },
        values_[order[i] - 1]);
  }
}

}  // namespace fermata::db::mariadb
