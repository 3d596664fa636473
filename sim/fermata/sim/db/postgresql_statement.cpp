// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/postgresql_statement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "fermata/db/sql_text.hpp"
#include "fermata/sim/db/lexer.hpp"
#include "fermata/sim/db/sql_error.hpp"

namespace fermata::sim::postgresql {

namespace {

using sql::SqlError;
using sql::Token;
using sql::TokenKind;
using Kind = Statement::Kind;

bool is_word(const Token& token, std::string_view word) {
  return token.kind == TokenKind::Word && token.text == word;
}

/// DISCARD ALL, DEALLOCATE [PREPARE] name, DEALLOCATE ALL; else nothing.
Statement command_about_session(std::vector<Token> tokens) {
  Statement statement;
  const auto semicolon = std::find_if(tokens.begin(), tokens.end(), [](const Token& each) {
    return each.kind == TokenKind::Sign && each.text == ";";
  });
  tokens.erase(semicolon != tokens.end() ? semicolon : tokens.end() - 1, tokens.end());
  if (tokens.size() == 3 && is_word(tokens[1], "prepare")) tokens.erase(tokens.begin() + 1);
  if (tokens.size() != 2) return statement;
  const bool all = is_word(tokens[1], "all");
  if (is_word(tokens[0], "discard") && all) statement.kind = Kind::DiscardAll;
  if (is_word(tokens[0], "deallocate")) {
    statement.kind = all ? Kind::DeallocateAll : Kind::Deallocate;
    statement.name = tokens[1].text;
  }
  return statement;
}

void require_no_failure(const sql::Session& session) {
  if (session.transaction() != db::TransactionState::Failed) return;
  throw SqlError("25P02", "current transaction is aborted, commands are ignored until its end");
}

std::string_view tag_of_control(const sql::TransactionCommand& command) {
  using Action = sql::TransactionCommand::Action;
  switch (command.action) {
    case Action::Begin:
      return "BEGIN";
    case Action::Commit:
      return "COMMIT";
    case Action::Savepoint:
      return "SAVEPOINT";
    case Action::Release:
      return "RELEASE";
    case Action::Rollback:
    case Action::RollbackTo:
      break;
  }
  return "ROLLBACK";
}

}  // namespace

bool Statement::writes() const noexcept {
  return kind == Kind::Sql && control() == nullptr &&
         !std::holds_alternative<sql::Select>(plan.command.statement) &&
         !std::holds_alternative<sql::Show>(plan.command.statement);
}

Statement compile(sql::Session& session, std::string_view sql, std::span<const Oid> given) {
  const std::vector<Token> tokens = sql::tokens_of(sql);
  if (commands_in(sql).empty()) return {};
  Statement statement = command_about_session(tokens);
  if (statement.kind != Kind::Empty) {
    require_no_failure(session);
    return statement;
  }
  if (is_word(tokens.front(), "copy")) {
    throw SqlError("0A000", "COPY is not supported by the simulated database");
  }
  statement.kind = Kind::Sql;
  statement.plan = session.plan(sql);
  statement.shape =
      shape_of(statement.plan.command, session.planned_table(statement.plan).get(), given);
  return statement;
}

std::string tag_of(const Statement& statement, const sql::Result& result) {
  switch (statement.kind) {
    case Kind::Empty:
      return {};
    case Kind::DiscardAll:
      return "DISCARD ALL";
    case Kind::Deallocate:
      return "DEALLOCATE";
    case Kind::DeallocateAll:
      return "DEALLOCATE ALL";
    case Kind::Sql:
      break;
  }
  struct Tag {
    const sql::Result& result;
    std::string operator()(const sql::CreateTable&) const { return "CREATE TABLE"; }
    std::string operator()(const sql::DropTable&) const { return "DROP TABLE"; }
    std::string operator()(const sql::Insert&) const {
      return fmt::format("INSERT 0 {}", result.affected_rows);
    }
    std::string operator()(const sql::Select&) const {
      return fmt::format("SELECT {}", result.rows.size());
    }
    std::string operator()(const sql::Update&) const {
      return fmt::format("UPDATE {}", result.affected_rows);
    }
    std::string operator()(const sql::Delete&) const {
      return fmt::format("DELETE {}", result.affected_rows);
    }
    std::string operator()(const sql::TransactionCommand& command) const {
      return std::string(tag_of_control(command));
    }
    std::string operator()(const sql::Set&) const { return "SET"; }
    std::string operator()(const sql::Show&) const { return "SHOW"; }
  };
  return std::visit(Tag{result}, statement.plan.command.statement);
}

std::vector<std::string_view> commands_in(std::string_view sql) {
  std::vector<std::string_view> commands;
  std::size_t begin = 0;
  bool says_something = false;
  for (std::size_t at = 0; at <= sql.size();) {
    if (at == sql.size() || sql[at] == ';') {
      if (says_something) commands.push_back(sql.substr(begin, at - begin));
      begin = ++at;
      says_something = false;
      continue;
    }
    const std::size_t quoted = db::quoted_length(sql.substr(at));
    const bool is_comment = quoted > 0 && (sql[at] == '-' || sql[at] == '/');
    const bool is_blank = std::string_view(" \t\n\r\v\f").find(sql[at]) != std::string_view::npos;
    says_something = says_something || (!is_comment && !is_blank);
    at += std::max<std::size_t>(quoted, 1);
  }
  return commands;
}

}  // namespace fermata::sim::postgresql
