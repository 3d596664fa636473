// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fermata/sim/db/command.hpp"
#include "fermata/sim/db/postgresql_types.hpp"
#include "fermata/sim/db/table.hpp"

namespace fermata::sim::postgresql {

struct ColumnShape {
  std::string name;
  Oid type = oid::kUnknown;
};

/// What a command takes and answers.
struct Shape {
  std::vector<Oid> parameters;
  std::vector<ColumnShape> columns;  // None for a command that answers no rows.
};

/// What PostgreSQL would find: from the types of columns, and from what stands beside a parameter
/// whose type is not among those that are `given`. `table` is the command's; it may be null. Throws
/// SqlError 42804 for a value that its column does not take.
[[nodiscard]] Shape shape_of(const sql::Command& command, const sql::Table* table,
                             std::span<const Oid> given);

/// Whether it is SELECT set_config(name, value, is_local), and nothing else.
[[nodiscard]] bool sets_a_variable(const sql::Command& command) noexcept;

}  // namespace fermata::sim::postgresql
