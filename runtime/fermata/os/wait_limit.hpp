// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long a wait may last, as system calls and libraries spell it.

#include <algorithm>
#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/os/clock.hpp"

namespace fermata::os {

/// Not negative, whatever the instant; 0 when it is past. REQUIRES: not never().
[[nodiscard]] inline std::int64_t nanoseconds_until(Instant wake_by) noexcept {
  FERMATA_ASSERT(wake_by != Instant::never());
  if (wake_by.nanoseconds <= 0) return 0;
  return std::max<std::int64_t>((wake_by - now()).count(), 0);
}

/// The time until an instant, from now on.
class WaitLimit {
 public:
  explicit WaitLimit(Instant wake_by) noexcept : endless_(wake_by == Instant::never()) {
    if (!endless_) time_ = to_timespec(nanoseconds_until(wake_by));
  }

  /// The limit as the system call takes it; null for no limit.
  [[nodiscard]] const timespec* get() const noexcept { return endless_ ? nullptr : &time_; }

 private:
  bool endless_;
  timespec time_ = {};
};

}  // namespace fermata::os
