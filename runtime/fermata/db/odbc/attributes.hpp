// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/value.hpp"

namespace fermata::db::odbc {

struct AttributeCommand {
  std::string sql;
  std::vector<Cell> parameters;  // Refer to what was given.
};

/// How `product` sets an attribute of its session. Nothing when that is not known, and when `name`
/// or `value` could mean more than it should.
[[nodiscard]] std::optional<AttributeCommand> attribute_command(std::string_view product,
                                                                std::string_view name,
                                                                std::string_view value);

}  // namespace fermata::db::odbc
