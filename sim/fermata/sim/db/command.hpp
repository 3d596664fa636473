// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a command of the simulated database says, before anybody looks at tables.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fermata/db/value.hpp"

namespace fermata::sim::sql {

enum class Operator : std::uint8_t {
  Or,
  And,
  Not,
  IsNull,
  IsNotNull,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Plus,
  Minus,
  Times,
  Negate,
};

struct Expression {
  enum class Kind : std::uint8_t { Literal, Parameter, Column, Call, Operation };

  Kind kind = Kind::Literal;
  db::Value literal;
  std::size_t parameter = 0;  // From 1.
  std::string name;           // Of a column or function.
  Operator operation = Operator::And;
  std::vector<Expression> operands;
};

struct ColumnDefinition {
  std::string name;
  std::string type;  // The first word of it, in small letters; may be empty.
  bool not_null = false;
};

struct CreateTable {
  std::string table;
  std::vector<ColumnDefinition> columns;
  std::optional<std::size_t> key;
  bool temporary = false;
  bool if_not_exists = false;
};

struct DropTable {
  std::string table;
  bool if_exists = false;
};

struct Insert {
  std::string table;
  std::vector<std::string> columns;  // None: all of them.
  std::vector<std::vector<Expression>> rows;
};

struct SelectItem {
  Expression expression;
  std::string name;  // As the answer calls it.
};

struct Select {
  std::vector<SelectItem> items;  // None: every column.
  std::string table;              // Empty: of nothing.
  std::optional<Expression> where;
  std::string order_by;  // Empty: as the rows were inserted.
  bool descending = false;
  std::optional<Expression> limit;
};

struct Update {
  std::string table;
  std::vector<std::pair<std::string, Expression>> changes;
  std::optional<Expression> where;
};

struct Delete {
  std::string table;
  std::optional<Expression> where;
};

struct TransactionCommand {
  enum class Action : std::uint8_t { Begin, Commit, Rollback, Savepoint, RollbackTo, Release };

  Action action = Action::Begin;
  std::string savepoint;
};

struct Set {
  std::string name;
  std::string value;
};

struct Show {
  std::string name;
};

struct Command {
  std::variant<CreateTable, DropTable, Insert, Select, Update, Delete, TransactionCommand, Set,
               Show>
      statement;
  std::size_t parameter_count = 0;
};

/// Parses one command; a semicolon may follow. Throws SqlError: 42601 for a text that is not a
/// command, 54001 for one that is nested too deeply, 22003 for a number that is too large.
[[nodiscard]] Command parse(std::string_view sql);

}  // namespace fermata::sim::sql
