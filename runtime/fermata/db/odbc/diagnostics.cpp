// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "fermata/db/errors.hpp"

namespace fermata::db::odbc {

namespace {

constexpr SQLSMALLINT kMostRecords = 16;
// Its driver has one SQLSTATE for everything.
constexpr SQLINTEGER kSqliteConstraint = 19;

SQLCHAR* characters(char* text) { return reinterpret_cast<SQLCHAR*>(text); }

/// Without the ends of lines that some drivers put there.
std::string_view trimmed(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

bool is_warning(std::string_view sqlstate) {
  return sqlstate.starts_with("00") || sqlstate.starts_with("01") || sqlstate.starts_with("02");
}

}  // namespace

Diagnostics read_diagnostics(SQLSMALLINT handle_type, SQLHANDLE handle) {
  Diagnostics result;
  SQLINTEGER first_native = 0;
  std::string text(1024, '\0');
  for (SQLSMALLINT record = 1; record <= kMostRecords; ++record) {
    std::array<char, SQL_SQLSTATE_SIZE + 1> state{};
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;
    const auto read = [&] {
      return SQLGetDiagRec(handle_type, handle, record, characters(state.data()), &native,
                           characters(text.data()), static_cast<SQLSMALLINT>(text.size()), &length);
    };
    SQLRETURN status = read();
    if (SQL_SUCCEEDED(status) && static_cast<std::size_t>(length) >= text.size()) {
      text.resize(std::min<std::size_t>(static_cast<std::size_t>(length) + 1,
                                        std::numeric_limits<SQLSMALLINT>::max()));
      status = read();
    }
    if (!SQL_SUCCEEDED(status)) break;
    if (record == 1) first_native = native;
    if (result.sqlstate.empty() && !is_warning(state.data())) result.sqlstate = state.data();
    const std::string_view message = trimmed(text.c_str());
    if (message.empty()) continue;
    if (!result.message.empty()) result.message += "; ";
    result.message += message;
  }
  const bool sqlite = result.message.starts_with("[SQLite]");
  if (sqlite && result.sqlstate == sqlstate::kFailed && first_native == kSqliteConstraint) {
    result.sqlstate = "23000";
  }
  if (result.sqlstate.size() != SQL_SQLSTATE_SIZE) result.sqlstate = sqlstate::kFailed;
  if (result.message.empty()) result.message = "the driver gives no reason";
  return result;
}

}  // namespace fermata::db::odbc
