// SPDX-License-Identifier: Apache-2.0
#pragma once

// The little that can be said of a command without knowing which database it is for.

#include <cstddef>
#include <string_view>

namespace fermata::db {

enum class SqlDialect : unsigned char {
  Standard,
  MySql,  // A backslash takes the meaning from a quote, # begins a comment, a -- wants a space.
};

/// The length of the quoted text, quoted name or comment that `sql` begins with; 0 when it begins
/// with none of them. When it is not terminated, the length of all of `sql`.
[[nodiscard]] std::size_t quoted_length(std::string_view sql,
                                        SqlDialect dialect = SqlDialect::Standard) noexcept;

/// The length of the name or keyword that `sql` begins with; 0 when it begins with none.
[[nodiscard]] std::size_t word_length(std::string_view sql) noexcept;

/// Whether the session may be another after `sql`: settings, temporary tables, locks, user
/// variables, prepared names. What is not known to be harmless may do anything.
[[nodiscard]] bool may_change_session(std::string_view sql);

}  // namespace fermata::db
