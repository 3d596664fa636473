// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace fermata::sim::cli {

/// Whether GoogleTest's `filter` selects the test `name`: patterns with `*` and `?`, ':' between
/// them; those after the first '-' are left out.
[[nodiscard]] bool selects(std::string_view filter, std::string_view name);

}  // namespace fermata::sim::cli
