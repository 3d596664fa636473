// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "fermata/sim/db/sql_error.hpp"

namespace fermata::sim::sql {

namespace {

bool is_null(const db::Value& value) noexcept { return std::holds_alternative<db::Null>(value); }

std::optional<double> as_number(const db::Value& value) noexcept {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*integer);
  }
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

[[noreturn]] void no_operator(const db::Value& left, const db::Value& right) {
  throw SqlError("42883", fmt::format("operator does not exist between {} and {}",
                                      db::kind_of(db::view(left)), db::kind_of(db::view(right))));
}

template <class T>
int order_of(const T& left, const T& right) {
  return left < right ? -1 : right < left ? 1 : 0;
}

db::Value calculate(Operator operation, const db::Value& left, const db::Value& right) {
  if (is_null(left) || is_null(right)) return {};
  const auto* const a = std::get_if<std::int64_t>(&left);
  const auto* const b = std::get_if<std::int64_t>(&right);
  if (a != nullptr && b != nullptr) {
    std::int64_t result = 0;
    const bool overflow = operation == Operator::Plus    ? __builtin_add_overflow(*a, *b, &result)
                          : operation == Operator::Minus ? __builtin_sub_overflow(*a, *b, &result)
                                                         : __builtin_mul_overflow(*a, *b, &result);
    if (overflow) throw SqlError("22003", "integer out of range");
    return result;
  }
  const std::optional<double> x = as_number(left);
  const std::optional<double> y = as_number(right);
  if (!x || !y) no_operator(left, right);
  return operation == Operator::Plus ? *x + *y : operation == Operator::Minus ? *x - *y : *x * *y;
}

/// Nothing for NULL.
std::optional<bool> truth_of(const db::Value& value) {
  if (is_null(value)) return std::nullopt;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  throw SqlError("42804", fmt::format("a condition must be a truth value, not {}",
                                      db::kind_of(db::view(value))));
}

db::Value from_truth(std::optional<bool> truth) {
  if (!truth) return {};
  return *truth;
}

/// AND and OR, where one side may settle what the other one leaves open.
db::Value junction(const Expression& expression, const Surroundings& around) {
  const bool settling = expression.operation == Operator::Or;
  const std::optional<bool> left = truth_of(evaluate(expression.operands[0], around));
  if (left == settling) return settling;
  const std::optional<bool> right = truth_of(evaluate(expression.operands[1], around));
  if (right == settling) return settling;
  return from_truth(left && right ? left : std::nullopt);
}

db::Value comparison(Operator operation, const db::Value& left, const db::Value& right) {
  const std::optional<int> order = compare(left, right);
  if (!order) return {};
  switch (operation) {
    case Operator::Equal:
      return *order == 0;
    case Operator::NotEqual:
      return *order != 0;
    case Operator::Less:
      return *order < 0;
    case Operator::LessEqual:
      return *order <= 0;
    case Operator::Greater:
      return *order > 0;
    default:
      return *order >= 0;
  }
}

db::Value operation(const Expression& expression, const Surroundings& around) {
  const Operator what = expression.operation;
  if (what == Operator::And || what == Operator::Or) return junction(expression, around);
  const db::Value left = evaluate(expression.operands[0], around);
  switch (what) {
    case Operator::Not: {
      const std::optional<bool> truth = truth_of(left);
      return truth ? from_truth(!*truth) : db::Value();
    }
    case Operator::IsNull:
      return is_null(left);
    case Operator::IsNotNull:
      return !is_null(left);
    case Operator::Negate:
      return calculate(Operator::Minus, db::Value(std::int64_t{0}), left);
    case Operator::Plus:
    case Operator::Minus:
    case Operator::Times:
      return calculate(what, left, evaluate(expression.operands[1], around));
    default:
      return comparison(what, left, evaluate(expression.operands[1], around));
  }
}

bool is_connection_id(const Expression& call) {
  return call.name == "connection_id" || call.name == "pg_backend_pid";
}

void check_function(const Expression& expression) {
  const std::size_t arguments = expression.operands.size();
  if (is_connection_id(expression) && arguments == 0) return;
  if (is_sleep(expression) && arguments == 1) return;
  if (expression.name == "count" || expression.name == "sum") {
    throw SqlError("42803", "an aggregate stands only alone in the list of a SELECT");
  }
  throw SqlError("42883", fmt::format("function {} with {} arguments does not exist",
                                      expression.name, arguments));
}

db::Value call(const Expression& expression, const Surroundings& around) {
  check_function(expression);
  if (is_sleep(expression)) return {};
  return static_cast<std::int64_t>(around.session);
}

[[noreturn]] void no_column(std::string_view name) {
  throw SqlError("42703", fmt::format("column \"{}\" does not exist", name));
}

}  // namespace

std::size_t Table::column(std::string_view column_name) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(),
                   [&](const ColumnDefinition& each) { return each.name == column_name; });
  if (found == columns.end()) no_column(column_name);
  return static_cast<std::size_t>(found - columns.begin());
}

bool is_sleep(const Expression& expression) {
  return expression.kind == Expression::Kind::Call &&
         (expression.name == "sleep" || expression.name == "pg_sleep");
}

db::Value evaluate(const Expression& expression, const Surroundings& around) {
  switch (expression.kind) {
    case Expression::Kind::Literal:
      return expression.literal;
    case Expression::Kind::Parameter:
      if (expression.parameter > around.parameters.size()) {
        throw SqlError("42P02", fmt::format("there is no parameter ${}", expression.parameter));
      }
      return around.parameters[expression.parameter - 1];
    case Expression::Kind::Column:
      if (around.table == nullptr) no_column(expression.name);
      return (*around.row)[around.table->column(expression.name)];
    case Expression::Kind::Call:
      return call(expression, around);
    case Expression::Kind::Operation:
      break;
  }
  return operation(expression, around);
}

void check_names(const Expression& expression, const Table* table) {
  if (expression.kind == Expression::Kind::Column) {
    if (table == nullptr) no_column(expression.name);
    (void)table->column(expression.name);
  }
  if (expression.kind == Expression::Kind::Call) check_function(expression);
  for (const Expression& operand : expression.operands) check_names(operand, table);
}

bool holds(const std::optional<Expression>& condition, const Surroundings& around) {
  return !condition || truth_of(evaluate(*condition, around)) == true;
}

std::optional<int> compare(const db::Value& left, const db::Value& right) {
  if (is_null(left) || is_null(right)) return std::nullopt;
  if (left.index() == right.index()) {
    return std::visit(
        [&](const auto& value) {
          return order_of(value, std::get<std::decay_t<decltype(value)>>(right));
        },
        left);
  }
  const std::optional<double> x = as_number(left);
  const std::optional<double> y = as_number(right);
  if (!x || !y) no_operator(left, right);
  return order_of(*x, *y);
}

bool are_equal(const db::Value& left, const db::Value& right) {
  const bool comparable = left.index() == right.index() || (as_number(left) && as_number(right));
  return comparable && compare(left, right) == 0;
}

db::Value add(const db::Value& left, const db::Value& right) {
  return calculate(Operator::Plus, left, right);
}

}  // namespace fermata::sim::sql
