// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

/// "1 run", "2 runs".
[[nodiscard]] inline std::string counted(std::uint64_t number, std::string_view what) {
  FERMATA_ASSERT(!what.empty());
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace fermata::sim
