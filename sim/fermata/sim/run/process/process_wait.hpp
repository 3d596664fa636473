// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for another process, which may never end, in real time.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>

namespace fermata::sim::detail {

/// Waits for the end of `process`, a child of this one, until `too_long` says so, which is asked
/// fifty times a second. Returns whether it has ended; nobody has collected its status then. Throws
/// InputOutputError when it cannot be watched.
bool ends_before(pid_t process, const std::function<bool()>& too_long);

/// Tells how long the present run of another process goes on.
class RunClock {
 public:
  /// Time since the clock was made, or since `run` last changed.
  std::chrono::nanoseconds on(std::uint64_t run);
  /// How long the longest run took that is over.
  [[nodiscard]] std::chrono::nanoseconds longest() const noexcept { return longest_; }

 private:
  std::uint64_t run_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::nanoseconds longest_{};
};

}  // namespace fermata::sim::detail
