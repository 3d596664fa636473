// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fermata/db/value.hpp"
#include "fermata/sim/db/command.hpp"
#include "fermata/sim/db/table.hpp"

namespace fermata::sim::sql {

/// The values of names and parameters in an expression.
struct Surroundings {
  std::span<const db::Value> parameters;
  SessionId session = kNobody;
  const Table* table = nullptr;  // Null where there are no columns.
  const Row* row = nullptr;
};

/// Whether it makes its command take a while: sleep(seconds), pg_sleep(seconds).
[[nodiscard]] bool is_sleep(const Expression& expression);

/// Throws SqlError, with PostgreSQL's states.
[[nodiscard]] db::Value evaluate(const Expression& expression, const Surroundings& around);

/// Throws the SqlError that every row would: a column or function that is not there. `table` may be
/// null.
void check_names(const Expression& expression, const Table* table);

/// Whether the row is meant; without a condition every one is.
[[nodiscard]] bool holds(const std::optional<Expression>& condition, const Surroundings& around);

/// Below zero, zero or above; nothing when one of them is NULL. Throws SqlError 42883 for kinds
/// that cannot be compared.
[[nodiscard]] std::optional<int> compare(const db::Value& left, const db::Value& right);

/// NULL is not, nor are kinds that cannot be compared.
[[nodiscard]] bool are_equal(const db::Value& left, const db::Value& right);

/// Throws SqlError 22003 when the sum is not a 64-bit integer.
[[nodiscard]] db::Value add(const db::Value& left, const db::Value& right);

}  // namespace fermata::sim::sql
