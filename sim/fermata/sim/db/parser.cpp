// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "fermata/sim/db/command.hpp"
#include "fermata/sim/db/lexer.hpp"
#include "fermata/sim/db/sql_error.hpp"

namespace fermata::sim::sql {

namespace {

constexpr std::size_t kDepthMax = 64;
constexpr std::size_t kOperationsMax = 256;  // In one expression: they make it deep, too.
constexpr std::size_t kParametersMax = 65'535;

struct InfixOperator {
  std::string_view text;
  Operator operation;
  int strength;
};

constexpr int kNotStrength = 3;
constexpr int kIsStrength = 4;
constexpr InfixOperator kInfix[] = {
    {"or", Operator::Or, 1},           {"and", Operator::And, 2},
    {"=", Operator::Equal, 5},         {"<>", Operator::NotEqual, 5},
    {"!=", Operator::NotEqual, 5},     {"<", Operator::Less, 5},
    {"<=", Operator::LessEqual, 5},    {">", Operator::Greater, 5},
    {">=", Operator::GreaterEqual, 5}, {"+", Operator::Plus, 6},
    {"-", Operator::Minus, 6},         {"*", Operator::Times, 7},
};
constexpr int kNegateStrength = 8;

Expression operation_of(Operator operation, std::vector<Expression> operands) {
  Expression made;
  made.kind = Expression::Kind::Operation;
  made.operation = operation;
  made.operands = std::move(operands);
  return made;
}

template <class Number>
Number number_of(const std::string& text) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) {
    throw SqlError("22003", fmt::format("value \"{}\" is out of range", text));
  }
  return number;
}

class Parser {
 public:
  explicit Parser(std::string_view sql) : tokens_(tokens_of(sql)) {}

  Command command() {
    Command command;
    command.statement = statement();
    accept(";");
    if (here().kind != TokenKind::End) fail();
    command.parameter_count = parameter_count_;
    return command;
  }

 private:
  using Action = TransactionCommand::Action;

  decltype(Command::statement) statement() {
    if (accept("create")) return create_table();
    if (accept("drop")) return drop_table();
    if (accept("insert")) return insert();
    if (accept("select")) return select();
    if (accept("update")) return update();
    if (accept("delete")) return remove();
    if (accept("set")) return set();
    if (accept("show")) return Show{name()};
    return transaction();
  }

  CreateTable create_table() {
    CreateTable create;
    create.temporary = accept("temporary") || accept("temp");
    expect("table");
    if (accept("if")) {
      expect("not");
      expect("exists");
      create.if_not_exists = true;
    }
    create.table = name();
    expect("(");
    do {
      create.columns.push_back({.name = name()});
      column_words(create);
    } while (accept(","));
    expect(")");
    return create;
  }

  /// A type and what else follows the name of the last column of `create`.
  void column_words(CreateTable& create) {
    while (!is(",") && !is(")")) {
      if (accept("primary")) {
        expect("key");
        if (create.key) throw SqlError("42P16", "a table has one primary key");
        create.key = create.columns.size() - 1;
        create.columns.back().not_null = true;
      } else if (accept("not")) {
        expect("null");
        create.columns.back().not_null = true;
      } else if (accept("(")) {
        do {
          if (here().kind != TokenKind::Integer) fail();
          ++at_;
        } while (accept(","));
        expect(")");
      } else if (here().kind == TokenKind::Word) {
        std::string& type = create.columns.back().type;
        if (type.empty()) type = here().text;
        ++at_;
      } else {
        fail();
      }
    }
  }

  DropTable drop_table() {
    DropTable drop;
    expect("table");
    if (accept("if")) {
      expect("exists");
      drop.if_exists = true;
    }
    drop.table = name();
    return drop;
  }

  Insert insert() {
    Insert insert;
    expect("into");
    insert.table = name();
    if (accept("(")) {
      do {
        insert.columns.push_back(name());
      } while (accept(","));
      expect(")");
    }
    expect("values");
    do {
      expect("(");
      insert.rows.emplace_back();
      do {
        insert.rows.back().push_back(expression());
      } while (accept(","));
      expect(")");
    } while (accept(","));
    return insert;
  }

  Select select() {
    Select select;
    if (!accept("*")) {
      do {
        SelectItem item{expression(), {}};
        const bool named = item.expression.kind == Expression::Kind::Column ||
                           item.expression.kind == Expression::Kind::Call;
        item.name = accept("as") ? name() : named ? item.expression.name : "?column?";
        select.items.push_back(std::move(item));
      } while (accept(","));
      if (!accept("from")) return select;
    } else {
      expect("from");
    }
    select.table = name();
    select.where = where();
    if (accept("order")) {
      expect("by");
      select.order_by = name();
      select.descending = accept("desc");
      if (!select.descending) accept("asc");
    }
    if (accept("limit")) select.limit = expression();
    return select;
  }

  Update update() {
    Update update;
    update.table = name();
    expect("set");
    do {
      std::string column = name();
      expect("=");
      update.changes.emplace_back(std::move(column), expression());
    } while (accept(","));
    update.where = where();
    return update;
  }

  Delete remove() {
    expect("from");
    Delete remove;
    remove.table = name();
    remove.where = where();
    return remove;
  }

  std::optional<Expression> where() {
    if (!accept("where")) return std::nullopt;
    return expression();
  }

  Set set() {
    Set set;
    set.name = name();
    if (!accept("to")) expect("=");
    if (accept("-")) set.value = "-";
    if (here().kind == TokenKind::Sign || here().kind == TokenKind::End ||
        here().kind == TokenKind::Parameter) {
      fail();
    }
    set.value += tokens_[at_++].text;
    return set;
  }

  TransactionCommand transaction() {
    if (is("begin") || is("start")) return begin();
    if (accept("commit")) {
      noise();
      return {Action::Commit, {}};
    }
    if (accept("savepoint")) return {Action::Savepoint, name()};
    if (accept("release")) {
      accept("savepoint");
      return {Action::Release, name()};
    }
    if (!accept("rollback")) fail();
    noise();
    if (!accept("to")) return {Action::Rollback, {}};
    accept("savepoint");
    return {Action::RollbackTo, name()};
  }

  void noise() {
    if (!accept("transaction")) accept("work");
  }

  /// Whatever isolation it asks for, it gets no less.
  TransactionCommand begin() {
    if (accept("start")) {
      expect("transaction");
    } else {
      expect("begin");
      noise();
    }
    if (accept("isolation")) {
      expect("level");
      if (accept("repeatable")) {
        expect("read");
      } else if (accept("read")) {
        if (!accept("committed")) expect("uncommitted");
      } else {
        expect("serializable");
      }
    }
    return {Action::Begin, {}};
  }

  Expression expression(int strength = 0) {
    if (depth_ == 0) operation_count_ = 0;
    if (++depth_ > kDepthMax) too_deep();
    Expression left = operand();
    while (true) {
      if (strength < kIsStrength && accept("is")) {
        const bool negated = accept("not");
        expect("null");
        left = operation_of(negated ? Operator::IsNotNull : Operator::IsNull, {std::move(left)});
        continue;
      }
      if (operation_count_++ > kOperationsMax) too_deep();
      const auto* const infix =
          std::find_if(std::begin(kInfix), std::end(kInfix),
                       [&](const InfixOperator& each) { return is(each.text); });
      if (infix == std::end(kInfix) || infix->strength <= strength) break;
      ++at_;
      Expression right = expression(infix->strength);
      std::vector<Expression> both;
      both.push_back(std::move(left));
      both.push_back(std::move(right));
      left = operation_of(infix->operation, std::move(both));
    }
    --depth_;
    return left;
  }

  Expression operand() {
    if (accept("(")) {
      Expression inner = expression();
      expect(")");
      return inner;
    }
    if (accept("-")) return operation_of(Operator::Negate, {expression(kNegateStrength)});
    if (accept("not")) return operation_of(Operator::Not, {expression(kNotStrength)});
    Expression made;
    const Token& token = here();
    switch (token.kind) {
      case TokenKind::Integer:
        made.literal = number_of<std::int64_t>(token.text);
        break;
      case TokenKind::Number:
        made.literal = number_of<double>(token.text);
        break;
      case TokenKind::Text:
        made.literal = token.text;
        break;
      case TokenKind::Parameter:
        return parameter();
      case TokenKind::Word:
      case TokenKind::QuotedName:
        return named();
      case TokenKind::Sign:
      case TokenKind::End:
        fail();
    }
    ++at_;
    return made;
  }

  Expression parameter() {
    Expression made;
    made.kind = Expression::Kind::Parameter;
    if (here().text.empty()) fail();
    made.parameter = number_of<std::size_t>(tokens_[at_++].text);
    if (made.parameter == 0 || made.parameter > kParametersMax) {
      throw SqlError("42P02", fmt::format("there is no parameter ${}", made.parameter));
    }
    parameter_count_ = std::max(parameter_count_, made.parameter);
    return made;
  }

  Expression named() {
    Expression made;
    if (accept("null")) return made;
    if (is("true") || is("false")) {
      made.literal = accept("true") || !accept("false");
      return made;
    }
    made.kind = Expression::Kind::Column;
    made.name = name();
    if (!accept("(")) return made;
    made.kind = Expression::Kind::Call;
    if (accept(")")) return made;
    if (made.name == "count") {
      expect("*");
    } else {
      do {
        made.operands.push_back(expression());
      } while (accept(","));
    }
    expect(")");
    return made;
  }

  std::string name() {
    if (here().kind != TokenKind::Word && here().kind != TokenKind::QuotedName) fail();
    return tokens_[at_++].text;
  }

  [[nodiscard]] const Token& here() const { return tokens_[at_]; }
  [[nodiscard]] bool is(std::string_view text) const {
    return (here().kind == TokenKind::Word || here().kind == TokenKind::Sign) &&
           here().text == text;
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail();
  }
  [[noreturn]] static void too_deep() {
    throw SqlError("54001", "the command is nested too deeply");
  }
  [[noreturn]] void fail() const {
    if (here().kind == TokenKind::End) throw SqlError("42601", "syntax error at end of input");
    throw SqlError("42601", fmt::format("syntax error at or near \"{}\"", here().text));
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t operation_count_ = 0;
  std::size_t parameter_count_ = 0;
};

}  // namespace

Command parse(std::string_view sql) { return Parser(sql).command(); }

}  // namespace fermata::sim::sql
