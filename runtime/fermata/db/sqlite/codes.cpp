// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/sqlite/codes.hpp"

#include <sqlite3.h>

#include <utility>

#include "fermata/db/errors.hpp"

namespace fermata::db::sqlite {

namespace {

// SQLite has one code for everything that is wrong with a command.
constexpr std::pair<std::string_view, std::string_view> kMessages[] = {
    {"syntax error", kSyntaxError},
    {"incomplete input", kSyntaxError},
    {"unrecognized token", kSyntaxError},
    {"no such table", "42P01"},
    {"no such column", "42703"},
    {"no such function", "42883"},
    {"no such savepoint", "3B001"},
    {"already exists", "42P07"},
    {"duplicate column name", "42701"},
    {"within a transaction", sqlstate::kActiveTransaction},
    {"no transaction is active", sqlstate::kNoActiveTransaction},
    {"integer overflow", "22003"},
};

std::string_view of_error(std::string_view message) noexcept {
  for (const auto& [part, state] : kMessages) {
    if (message.find(part) != std::string_view::npos) return state;
  }
  return "42000";
}

std::string_view of_constraint(int code) noexcept {
  switch (code) {
    case SQLITE_CONSTRAINT_NOTNULL:
      return "23502";
    case SQLITE_CONSTRAINT_FOREIGNKEY:
      return "23503";
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
      return "23505";
    case SQLITE_CONSTRAINT_CHECK:
      return "23514";
    default:
      return "23000";
  }
}

}  // namespace

std::string_view sqlstate_of(int code, std::string_view message) noexcept {
  switch (code & 0xff) {
    case SQLITE_ERROR:
      return of_error(message);
    case SQLITE_CONSTRAINT:
      return of_constraint(code);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return "40001";
    case SQLITE_ABORT:
      return "40000";
    case SQLITE_INTERRUPT:
      return kInterrupted;
    case SQLITE_SCHEMA:
      return kStaleStatement;
    case SQLITE_READONLY:
      return "25006";
    case SQLITE_FULL:
      return "53100";
    case SQLITE_NOMEM:
      return "53200";
    case SQLITE_TOOBIG:
      return "54000";
    case SQLITE_MISMATCH:
      return "22018";
    case SQLITE_RANGE:
      return sqlstate::kBadParameters;
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "42501";
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return "58030";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "XX001";
    default:
      return sqlstate::kFailed;
  }
}

bool loses_connection(int code) noexcept {
  const int primary = code & 0xff;
  return primary == SQLITE_IOERR || primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB ||
         code == SQLITE_READONLY_DBMOVED;
}

}  // namespace fermata::db::sqlite
