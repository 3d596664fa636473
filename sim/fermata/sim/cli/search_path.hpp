// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fermata::sim::cli {

/// The path of the program `name` in the folders of PATH; nothing when none has it.
[[nodiscard]] std::optional<std::string> find_in_path(std::string_view name);

}  // namespace fermata::sim::cli
