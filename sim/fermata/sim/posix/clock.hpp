// SPDX-License-Identifier: Apache-2.0
#pragma once

// The clocks of a simulated machine, as clock_gettime() numbers them.

#include <algorithm>
#include <ctime>
#include <optional>

#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

inline constexpr Duration kUptime = std::chrono::seconds(10);

/// Whether the clock tells the time of the day.
[[nodiscard]] inline bool is_wall_clock(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
         clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
}

/// Whether there is such a clock. Those of processes and threads go while the machine does.
[[nodiscard]] inline bool is_clock(clockid_t clock) noexcept {
  return clock >= CLOCK_REALTIME && clock <= CLOCK_TAI;
}

/// Whether the clock begins with the process.
[[nodiscard]] inline bool is_processor_clock(clockid_t clock) noexcept {
  return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

/// What a clock shows now, since its beginning. A machine has been up for a while when its first
/// process begins: programs take 0 for no time at all.
[[nodiscard]] inline Duration clock_shown(Machine& machine, clockid_t clock) {
  const Instant now = machine.now();
  if (is_wall_clock(clock)) return Duration(machine.clock().wall(now).nanoseconds);
  const Duration shown(machine.clock().shown(now).nanoseconds);
  return is_processor_clock(clock) ? shown : kUptime + shown;
}

/// Who waits for longer than this waits forever.
inline constexpr Duration kForever = std::chrono::seconds(1'000'000'000);

/// The longest one for a time that is too late to be told.
[[nodiscard]] inline Duration duration_of(const timespec& time) noexcept {
  constexpr time_t kLatest = Duration::max() / std::chrono::seconds(1);
  if (time.tv_sec >= kLatest) return Duration::max();
  const std::chrono::seconds seconds(std::max(time.tv_sec, -kLatest));
  return seconds + std::chrono::nanoseconds(time.tv_nsec);
}

/// Their sum, or the longest one if that is too long. Neither is negative.
[[nodiscard]] inline Duration add(Duration one, Duration other) noexcept {
  return other > Duration::max() - one ? Duration::max() : one + other;
}

/// How long to wait until the clock shows `end`; nullopt: forever.
[[nodiscard]] inline std::optional<Duration> limit_until(Machine& machine, clockid_t clock,
                                                         Duration end) {
  const Duration shown = clock_shown(machine, clock);
  if (end <= shown) return Duration::zero();
  return end - shown > kForever ? std::nullopt : std::optional(end - shown);
}

[[nodiscard]] inline timespec timespec_of(Duration time) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
}

}  // namespace fermata::sim::detail
