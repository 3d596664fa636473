// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables and their rows, each in two states: what is committed, and what the one open transaction
// that has written it makes of it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/value.hpp"
#include "fermata/sim/db/command.hpp"

namespace fermata::sim::sql {

using SessionId = std::uint64_t;
inline constexpr SessionId kNobody = 0;
using Row = std::vector<db::Value>;

/// Something of which there is a committed state, and another one for its writer. A T that is false
/// says that there is none.
template <class T>
struct Versions {
  T committed{};
  T pending{};  // Of the writer.
  SessionId writer = kNobody;

  [[nodiscard]] const T& seen_by(SessionId session) const noexcept {
    return writer != kNobody && writer == session ? pending : committed;
  }
  [[nodiscard]] bool written_by_another_than(SessionId session) const noexcept {
    return writer != kNobody && writer != session;
  }
};

struct Table {
  std::uint64_t id = 0;  // Never that of another table.
  std::string name;
  std::vector<ColumnDefinition> columns;
  std::optional<std::size_t> key;
  std::map<std::uint64_t, Versions<std::optional<Row>>> rows;
  std::uint64_t rows_made = 0;

  /// Throws SqlError 42703.
  [[nodiscard]] std::size_t column(std::string_view column_name) const;
};

/// By name.
using Catalogue = std::map<std::string, Versions<std::shared_ptr<Table>>, std::less<>>;

}  // namespace fermata::sim::sql
