// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/db/engine.hpp"
#include "fermata/sim/db/postgresql_shape.hpp"

namespace fermata::sim::postgresql {

/// A command that a session has looked at.
struct Statement {
  enum class Kind : std::uint8_t { Empty, Sql, DiscardAll, Deallocate, DeallocateAll };

  Kind kind = Kind::Empty;
  std::string name;  // To deallocate.
  sql::Plan plan;
  Shape shape;

  [[nodiscard]] const sql::TransactionCommand* control() const noexcept {
    return kind == Kind::Sql ? std::get_if<sql::TransactionCommand>(&plan.command.statement)
                             : nullptr;
  }
  /// Whether it is carried out in a transaction of its own when there is none: a SELECT looks at
  /// what is committed.
  [[nodiscard]] bool writes() const noexcept;
};

/// `given` are the types of parameters that the client tells. Throws SqlError.
[[nodiscard]] Statement compile(sql::Session& session, std::string_view sql,
                                std::span<const Oid> given);

/// What CommandComplete calls it that was done.
[[nodiscard]] std::string tag_of(const Statement& statement, const sql::Result& result);

/// The commands of a simple query; those that say nothing are left out.
[[nodiscard]] std::vector<std::string_view> commands_in(std::string_view sql);

}  // namespace fermata::sim::postgresql
