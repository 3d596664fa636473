// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "fermata/core/runtime.hpp"

namespace fermata {

/// Locks what several threads use. In a simulation this is where their order is chosen: others may
/// go first. Hold it briefly, and never while a coroutine suspends.
[[nodiscard]] inline std::unique_lock<std::mutex> lock_among_threads(std::mutex& mutex) {
  if (Runtime* const here = detail::current_runtime_pointer) here->reactor().let_threads_in();
  return std::unique_lock(mutex);
}

}  // namespace fermata
