// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fermata::models {

/// The lines of `text`, without white space at their ends; the last one needs no newline (EXE-05).
[[nodiscard]] inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  bool begun = false;
  for (const char each : text) {
    if (!begun) lines.emplace_back();
    begun = each != '\n';
    if (begun) lines.back() += each;
  }
  for (std::string& line : lines) {
    while (!line.empty() && std::string_view(" \t").find(line.back()) != std::string_view::npos) {
      line.pop_back();
    }
  }
  return lines;
}

}  // namespace fermata::models
