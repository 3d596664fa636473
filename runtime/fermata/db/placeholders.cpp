// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/placeholders.hpp"

#include <algorithm>
#include <charconv>

#include "fermata/base/assert.hpp"

namespace fermata::db {

Placeholders replace_placeholders(std::string_view sql, PlaceholderStyle style,
                                  SqlDialect dialect) {
  Placeholders result;
  while (!sql.empty()) {
    std::size_t kept = quoted_length(sql, dialect);
    if (kept == 0) kept = word_length(sql);
    if (kept > 0) {
      result.sql += sql.substr(0, kept);
      sql.remove_prefix(kept);
      continue;
    }
    std::size_t number = 0;
    const char* const digits = sql.data() + 1;
    const char* const end = sql.data() + sql.size();
    const auto parsed = std::from_chars(digits, end, number);
    if (sql.front() != '$' || parsed.ptr == digits || number == 0) {
      result.sql += sql.front();
      sql.remove_prefix(1);
      continue;
    }
    result.sql += '?';
    if (style == PlaceholderStyle::Numbered) result.sql.append(digits, parsed.ptr);
    result.order.push_back(number);
    result.count = std::max(result.count, number);
    sql.remove_prefix(static_cast<std::size_t>(parsed.ptr - sql.data()));
  }
  FERMATA_ASSERT(result.order.empty() == (result.count == 0));
  return result;
}

}  // namespace fermata::db
