// SPDX-License-Identifier: Apache-2.0
#pragma once

// The foreign libraries of this process, and what they import. Those whose files cannot be read, or
// are no longer there, are left out; and so is what is loaded later.

#include <string>
#include <vector>

namespace fermata::sim::detail {

/// One line that names what they import and nobody serves; empty when there is nothing, or the
/// program does not link fermata::posix.
[[nodiscard]] std::string unserved_text();

/// How a program may be used with what its libraries import.
struct ImportRules {
  /// Every function that they import is served or passes.
  bool strict = false;
  /// Functions that answer ENOSYS, and need not be served.
  std::vector<std::string> allowed;
};

/// Throws Error, which names library and functions, when the libraries of this process import
/// what the rules do not let through, or old versions of functions.
void check_loaded_libraries(const ImportRules& rules);

}  // namespace fermata::sim::detail
