// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

/// "1 run", "2 runs".
[[nodiscard]] inline std::string counted(std::uint64_t number, std::string_view what) {
  FERMATA_ASSERT(!what.empty());
  std::string text = std::to_string(number) + " ";
  text += what;
  if (number != 1) text += 's';
  return text;
}

}  // namespace fermata::sim
