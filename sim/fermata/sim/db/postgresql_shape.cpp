// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/postgresql_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>

#include "fermata/sim/db/evaluate.hpp"
#include "fermata/sim/db/sql_error.hpp"

namespace fermata::sim::postgresql {

namespace {

using sql::Expression;
using sql::Operator;

Oid or_else(Oid type, Oid otherwise) noexcept { return type != oid::kUnknown ? type : otherwise; }

/// The type of a sum, a difference or a product.
Oid wider(Oid left, Oid right) noexcept {
  for (const Oid type : {oid::kFloat8, oid::kFloat4, oid::kNumeric, oid::kInt8}) {
    if (left == type || right == type) return type;
  }
  return or_else(left, right);
}

Oid type_of_sum(Oid type) noexcept {
  if (type == oid::kInt2 || type == oid::kInt4) return oid::kInt8;
  return type == oid::kInt8 ? oid::kNumeric : type;
}

class ShapeFinder {
 public:
  ShapeFinder(const sql::Table* table, std::span<const Oid> given, std::size_t parameters)
      : table_(table) {
    shape_.parameters.assign(given.begin(), given.end());
    shape_.parameters.resize(std::max(given.size(), parameters), oid::kUnknown);
  }

  Shape take() {
    for (Oid& type : shape_.parameters) type = or_else(type, oid::kText);
    for (ColumnShape& column : shape_.columns) column.type = or_else(column.type, oid::kText);
    return std::move(shape_);
  }

  void operator()(const sql::Insert& insert) {
    for (const std::vector<Expression>& row : insert.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        const bool named = i < insert.columns.size();
        if (named) {
          assign(insert.columns[i], row[i]);
        } else if (table_ != nullptr && i < table_->columns.size()) {
          assign(table_->columns[i].name, row[i]);
        }
      }
    }
  }

  void operator()(const sql::Select& select) {
    for (const sql::SelectItem& item : select.items) {
      shape_.columns.push_back({item.name, type_of(item.expression, oid::kUnknown)});
    }
    if (select.items.empty() && table_ != nullptr) {
      for (const sql::ColumnDefinition& column : table_->columns) {
        shape_.columns.push_back({column.name, type_named(column.type)});
      }
    }
    meet_condition(select.where);
    if (select.limit) type_of(*select.limit, oid::kInt8);
  }

  void operator()(const sql::Update& update) {
    for (const auto& [column, value] : update.changes) assign(column, value);
    meet_condition(update.where);
  }

  void operator()(const sql::Delete& remove) { meet_condition(remove.where); }

  void operator()(const sql::Show& show) { shape_.columns.push_back({show.name, oid::kText}); }

  template <class Other>
  void operator()(const Other&) {}

 private:
  void meet_condition(const std::optional<Expression>& where) {
    if (where) type_of(*where, oid::kBool);
  }

  /// Unknown for a column that is not there: the command itself will say so.
  [[nodiscard]] Oid type_of_column(std::string_view name) const noexcept {
    if (table_ == nullptr) return oid::kUnknown;
    for (const sql::ColumnDefinition& column : table_->columns) {
      if (column.name == name) return type_named(column.type);
    }
    return oid::kUnknown;
  }

  void assign(const std::string& column, const Expression& value) {
    const Oid wanted = type_of_column(column);
    const Oid given = type_of(value, wanted);
    if (wanted == oid::kUnknown || given == oid::kUnknown) return;
    if (category_of(wanted) == Category::Text || category_of(wanted) == category_of(given)) return;
    throw sql::SqlError(
        "42804", fmt::format("column \"{}\" is of type {} but expression is of type {}", column,
                             name_of(wanted), name_of(given)));
  }

  /// `wanted` is the type that a parameter or text has here whose type nobody has told.
  Oid type_of(const Expression& expression, Oid wanted) {
    switch (expression.kind) {
      case Expression::Kind::Literal:
        return type_of_literal(expression.literal, wanted);
      case Expression::Kind::Parameter: {
        Oid& type = shape_.parameters[expression.parameter - 1];
        type = or_else(type, wanted);
        return type;
      }
      case Expression::Kind::Column:
        return type_of_column(expression.name);
      case Expression::Kind::Call:
        return type_of_call(expression);
      case Expression::Kind::Operation:
        break;
    }
    return type_of_operation(expression, wanted);
  }

  static Oid type_of_literal(const db::Value& literal, Oid wanted) noexcept {
    if (std::holds_alternative<bool>(literal)) return oid::kBool;
    if (std::holds_alternative<double>(literal)) return oid::kNumeric;
    if (const auto* const number = std::get_if<std::int64_t>(&literal)) {
      const bool is_small = *number <= std::numeric_limits<std::int32_t>::max();
      return is_small ? oid::kInt4 : oid::kInt8;
    }
    if (std::holds_alternative<db::Null>(literal)) return wanted;
    return category_of(wanted) == Category::Text ? wanted : oid::kText;
  }

  Oid type_of_call(const Expression& call) {
    Oid argument = oid::kUnknown;
    const Oid wanted = sql::is_sleep(call) ? oid::kFloat8 : oid::kUnknown;
    for (const Expression& operand : call.operands) argument = type_of(operand, wanted);
    if (call.name == "count") return oid::kInt8;
    if (call.name == "sum") return type_of_sum(argument);
    if (sql::is_sleep(call)) return oid::kVoid;
    return call.name == "set_config" ? oid::kText : oid::kInt4;
  }

  Oid type_of_operation(const Expression& expression, Oid wanted) {
    const std::vector<Expression>& operands = expression.operands;
    switch (expression.operation) {
      case Operator::And:
      case Operator::Or:
      case Operator::Not:
        for (const Expression& operand : operands) type_of(operand, oid::kBool);
        return oid::kBool;
      case Operator::IsNull:
      case Operator::IsNotNull:
        type_of(operands[0], oid::kUnknown);
        return oid::kBool;
      case Operator::Negate:
        return type_of(operands[0], wanted);
      case Operator::Plus:
      case Operator::Minus:
      case Operator::Times:
        return meet_both(operands, wanted);
      default:
        meet_both(operands, oid::kUnknown);
        return oid::kBool;
    }
  }

  /// Each side tells what the other one is, if that is not known.
  Oid meet_both(const std::vector<Expression>& operands, Oid wanted) {
    const Oid right = type_of(operands[1], oid::kUnknown);
    const Oid left = type_of(operands[0], or_else(right, wanted));
    const bool is_known = right != oid::kUnknown;  // Else it may be a parameter.
    return wider(left, is_known ? right : type_of(operands[1], or_else(left, wanted)));
  }

  const sql::Table* table_;
  Shape shape_;
};

}  // namespace

Shape shape_of(const sql::Command& command, const sql::Table* table, std::span<const Oid> given) {
  ShapeFinder finder(table, given, command.parameter_count);
  std::visit(finder, command.statement);
  return finder.take();
}

bool sets_a_variable(const sql::Command& command) noexcept {
  const auto* const select = std::get_if<sql::Select>(&command.statement);
  if (select == nullptr || !select->table.empty() || select->items.size() != 1) return false;
  const Expression& call = select->items[0].expression;
  return call.kind == Expression::Kind::Call && call.name == "set_config" &&
         call.operands.size() == 3;
}

}  // namespace fermata::sim::postgresql
