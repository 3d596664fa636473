// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/sql_text.hpp"

namespace fermata::db {

/// A command whose parameters $1, $2, ... were given other names.
struct Placeholders {
  std::string sql;
  /// The numbers of the parameters, from 1, in the order in which they stand in `sql`.
  std::vector<std::size_t> order;
  /// The highest number.
  std::size_t count = 0;
};

enum class PlaceholderStyle : unsigned char {
  Numbered,    // ?1, ?2
  Positional,  // ?, each time a parameter is used
};

/// Replaces $1, $2, ... by placeholders of `style`. Quoted text, comments and names stay as they
/// are.
[[nodiscard]] Placeholders replace_placeholders(std::string_view sql, PlaceholderStyle style,
                                                SqlDialect dialect = SqlDialect::Standard);

}  // namespace fermata::db
