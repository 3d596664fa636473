// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/target.hpp"

namespace fermata::db::odbc {

/// `value` quoted for a connection string: in braces when it needs them.
[[nodiscard]] std::string quoted_value(std::string_view value);

/// The string for SQLDriverConnect. Throws UsageError when it cannot express `target`.
[[nodiscard]] std::string connection_string(const Target& target);

/// Every password in `target`, under whatever name.
[[nodiscard]] std::vector<std::string> passwords(const Target& target);

}  // namespace fermata::db::odbc
