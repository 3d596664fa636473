// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sql.h>
#include <sqlext.h>

#include <string_view>
#include <vector>

#include "fermata/db/placeholders.hpp"
#include "fermata/db/value.hpp"

namespace fermata::db::odbc {

/// Copies of the parameters of one call, where the driver looks for them.
class BoundParameters {
 public:
  /// In the order in which the driver counts. Throws ParameterError, with `database`, on a wrong
  /// number of them, on text with NUL, on too much text.
  BoundParameters(const Placeholders& command, Parameters parameters, std::string_view database);

  [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
  /// False when the driver refuses one. This has to stay where it is until the call has ended.
  [[nodiscard]] bool bind(SQLHSTMT statement);

 private:
  struct Place {
    std::size_t value;
    SQLLEN length = 0;
  };

  [[nodiscard]] static SQLRETURN bind(SQLHSTMT statement, SQLUSMALLINT number, Value& value,
                                      SQLLEN& length);

  std::vector<Value> values_;
  std::vector<Place> places_;
};

/// `sql` with ? for its parameters, and without comments that end with their line: some drivers
/// look for signs in them. Throws ParameterError, with `database`, when it cannot be sent.
[[nodiscard]] Placeholders positional_command(std::string_view sql, std::string_view database);

}  // namespace fermata::db::odbc
