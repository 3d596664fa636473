// SPDX-License-Identifier: Apache-2.0
#pragma once

// How large the stacks of simulated programs are.

#include <cstddef>

#include "fermata/base/sanitizer.hpp"
#include "fermata/context/context.hpp"
#include "fermata/posix/kernel.hpp"

namespace fermata::sim::detail {

/// `stacks` with room for what Linux gives to a thread, where foreign code runs: it may count on
/// that. Memory is taken page by page. AddressSanitizer clears what it knows of a stack for each
/// coroutine, so there it is less.
[[nodiscard]] inline StackOptions with_room_for_foreign_code(StackOptions stacks) noexcept {
#ifdef FERMATA_ASAN
  constexpr std::size_t kForeignBytes = std::size_t{1} << 20;
#else
  constexpr std::size_t kForeignBytes = std::size_t{8} << 20;
#endif
  if (posix::is_linked()) stacks.stack_bytes += kForeignBytes;
  return stacks;
}

}  // namespace fermata::sim::detail
