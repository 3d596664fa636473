// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <chrono>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"

namespace fermata::sim::fleet {

/// Whether the storage may do at the next attempt what it has refused with `code`: it does after a
/// network's failure, or when another machine has just replaced a file.
[[nodiscard]] inline bool may_pass(int code) noexcept {
  return code == ESTALE || code == EIO || code == ETIMEDOUT || code == EAGAIN || code == ENOENT ||
         code == EMFILE || code == ENFILE;
}

/// Calls `step`, which can be done twice, again after errors that may pass: 6 times in 3 s at most.
/// Suspends.
template <class Step>
auto patiently(Step step) {
  constexpr Duration kLast = std::chrono::seconds(2);
  for (Duration pause = std::chrono::milliseconds(62); pause < kLast; pause *= 2) {
    try {
      return step();
    } catch (const InputOutputError& error) {
      if (!may_pass(error.code())) throw;
    }
    delay(pause);
  }
  return step();
}

}  // namespace fermata::sim::fleet
