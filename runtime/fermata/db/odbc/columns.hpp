// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sql.h>
#include <sqlext.h>

#include <optional>
#include <string>

#include "fermata/db/value.hpp"

namespace fermata::db::odbc {

enum class ColumnKind : unsigned char { Truth, Integer, Number, Text, Bytes };

struct Column {
  std::string name;
  ColumnKind kind;
};

/// Column `number`, from 1, of an executed statement. Nothing when the driver fails.
[[nodiscard]] std::optional<Column> describe_column(SQLHSTMT statement, SQLUSMALLINT number);

/// The value in the current row. Nothing when the driver fails.
[[nodiscard]] std::optional<Value> read_cell(SQLHSTMT statement, SQLUSMALLINT number,
                                             ColumnKind kind);

}  // namespace fermata::db::odbc
