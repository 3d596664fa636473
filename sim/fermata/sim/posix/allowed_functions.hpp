// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions that nobody serves, and that foreign code may call all the same: a call fails with
// ENOSYS, and the run goes on.

#include <string>
#include <string_view>
#include <vector>

namespace fermata::sim::detail {

/// From now on, for all worlds of the process.
void allow_unserved(std::vector<std::string> functions);

[[nodiscard]] bool is_allowed_unserved(std::string_view function) noexcept;

}  // namespace fermata::sim::detail
