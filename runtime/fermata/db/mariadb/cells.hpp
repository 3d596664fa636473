// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mysql.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/value.hpp"

namespace fermata::db::mariadb {

/// The kind that the values of a column have here.
enum class ColumnKind : std::uint8_t { Integer, Number, Text, Bytes };

/// The columns of a result.
class Columns {
 public:
  /// Null: none.
  explicit Columns(MYSQL_RES* result);

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] std::size_t size() const noexcept { return kinds_.size(); }
  [[nodiscard]] ColumnKind kind(std::size_t column) const noexcept { return kinds_[column]; }
  /// The cell of a value that was sent as text; it refers to `text`.
  [[nodiscard]] Cell cell(std::size_t column, std::string_view text) const;

 private:
  std::vector<std::string> names_;
  std::vector<ColumnKind> kinds_;
};

/// Parameters as the library binds them; they own what they refer to.
class Arguments {
 public:
  /// In the order in which the command uses them.
  Arguments(Parameters parameters, const std::vector<std::size_t>& order);
  [[nodiscard]] MYSQL_BIND* binds() noexcept { return binds_.data(); }
  /// The total size of the text and bytes, in bytes.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::vector<Value> values_;
  std::vector<unsigned long> lengths_;
  std::vector<MYSQL_BIND> binds_;
  std::size_t size_ = 0;
};

}  // namespace fermata::db::mariadb
