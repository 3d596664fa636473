// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions that only foreign libraries and the C++ library get served: the program itself, with
// the runtime and the simulator in it, calls them for reasons of its own.

#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/served/real.hpp"

namespace fermata::posix {

/// The machine that such a library at `from` runs on; null for any other caller.
[[nodiscard]] inline Kernel* machine_for(const void* from) noexcept {
  Kernel* const machine = serving_machine();
  if (machine == nullptr) return nullptr;
  return is_foreign_code(from) || detail::is_cpp_library(from) ? machine : nullptr;
}

}  // namespace fermata::posix
