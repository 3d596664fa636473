// SPDX-License-Identifier: Apache-2.0
#pragma once

// The clocks of reactors whose time is real.

#include <ctime>

#include "fermata/core/reactor.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

inline constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

[[nodiscard]] inline std::int64_t read_clock(clockid_t clock) noexcept {
  timespec time;
  kernel.clock_gettime(clock, &time);
  return time.tv_sec * kNanosecondsPerSecond + time.tv_nsec;
}

[[nodiscard]] inline Instant now() noexcept { return Instant{read_clock(CLOCK_MONOTONIC)}; }
[[nodiscard]] inline WallTime wall_clock() noexcept { return {read_clock(CLOCK_REALTIME)}; }

/// `nanoseconds`, which is not negative, as the system spells it.
[[nodiscard]] inline timespec to_timespec(std::int64_t nanoseconds) noexcept {
  return {nanoseconds / kNanosecondsPerSecond, nanoseconds % kNanosecondsPerSecond};
}

}  // namespace fermata::os
