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

  /// "file:line", without the folders of the file; where no line is known, only the file.
  [[nodiscard]] std::string in_short() const {
    const std::string path(file);
    const std::string name = path.substr(path.rfind('/') + 1);
    return line != 0 ? name + ":" + std::to_string(line) : name;
  }

  /// "file:line", or the file alone where no line is known.
  [[nodiscard]] std::string without_function() const {
    return line != 0 ? std::string(file) + ":" + std::to_string(line) : std::string(file);
  }

  /// "file:line (function)", without what is not known.
  [[nodiscard]] std::string text() const {
    std::string out = without_function();
    if (function[0] != '\0') out += " (" + std::string(function) + ")";
    return out;
  }
};

}  // namespace fermata
