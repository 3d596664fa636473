// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sql.h>
#include <sqlext.h>

#include <string>

namespace fermata::db::odbc {

/// The diagnostics of a handle after the last call.
struct Diagnostics {
  std::string sqlstate;  // Of the first record that is not a warning; else HY000.
  std::string message;   // Of all records.
};

/// Reads the diagnostics of the last call; on the thread of that call.
[[nodiscard]] Diagnostics read_diagnostics(SQLSMALLINT handle_type, SQLHANDLE handle);

}  // namespace fermata::db::odbc
