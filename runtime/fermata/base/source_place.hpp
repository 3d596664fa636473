// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace fermata {

/// Where in the source something was spawned, or suspended. For display only: compilers spell
/// functions differently, so it must never enter a key, a hash or a signature.
struct SourcePlace {
  const char* file = "unknown";
  const char* function = "";
  std::int64_t line = 0;  // As wide as a register: a copy soon after the store does not stall.

  static constexpr SourcePlace current(const char* file = __builtin_FILE(),
                                       int line = __builtin_LINE(),
                                       const char* function = __builtin_FUNCTION()) noexcept {
    return {file, function, line};
  }

  /// "file:line", without the folders of the file.
  [[nodiscard]] std::string in_short() const {
    const std::string path(file);
    return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
  }

  /// "file:line (function)", or "file:line" without a function.
  [[nodiscard]] std::string text() const {
    std::string out = std::string(file) + ":" + std::to_string(line);
    if (function[0] != '\0') out += " (" + std::string(function) + ")";
    return out;
  }
};

}  // namespace fermata
