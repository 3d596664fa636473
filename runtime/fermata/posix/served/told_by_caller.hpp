// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions that only foreign libraries get served: the program itself, with the runtime and the
// simulator in it, calls them for reasons of its own.

#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/served/real.hpp"

namespace fermata::posix {

/// The machine that a foreign library at `from` runs on; null for any other caller.
[[nodiscard]] inline Kernel* machine_for(const void* from) noexcept {
  Kernel* const machine = serving_machine();
  return machine != nullptr && is_foreign_code(from) ? machine : nullptr;
}

}  // namespace fermata::posix
