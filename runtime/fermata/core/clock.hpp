// SPDX-License-Identifier: Apache-2.0
#pragma once

// The clocks of the runtime for code that is written for those of std::chrono, and times of such
// clocks for waits.
//
//   const auto start = fermata::MonotonicClock::now();
//   reply = channel.recv({.timeout = fermata::until(deadline)});

#include <chrono>

#include "fermata/core/suspend.hpp"

namespace fermata {

/// The monotonic clock of the running runtime, as a clock of std::chrono. Virtual in simulation.
struct MonotonicClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonotonicClock>;
  static constexpr bool is_steady = true;

  /// Throws UsageError where no runtime runs.
  [[nodiscard]] static time_point now() { return from(fermata::now()); }

  [[nodiscard]] static constexpr time_point from(Instant instant) noexcept {
    return time_point(Duration(instant.nanoseconds));
  }
  [[nodiscard]] static constexpr Instant instant(time_point when) noexcept {
    return Instant{when.time_since_epoch().count()};
  }
};

/// The wall clock of the running runtime, with the times of std::chrono::system_clock. Virtual in
/// simulation. It may jump.
struct WallClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::sys_time<Duration>;
  static constexpr bool is_steady = false;

  /// Throws UsageError where no runtime runs.
  [[nodiscard]] static time_point now() { return from(wall_clock()); }

  [[nodiscard]] static constexpr time_point from(WallTime time) noexcept {
    return time_point(Duration(time.nanoseconds));
  }
};

/// The time that is left until `when`; zero when it has come.
[[nodiscard]] inline Duration until(Instant when) {
  const Instant present = now();
  return when > present ? when - present : Duration::zero();
}

/// The time that is left until `when`, as `Clock` shows it now, rounded up; zero when it has come.
/// For the clocks above, and for those of std::chrono in production; a simulated program has no
/// other clock than the runtime's, unless fermata::posix serves it one.
template <class Clock, class Span>
[[nodiscard]] Duration until(const std::chrono::time_point<Clock, Span>& when) {
  using Wide = std::chrono::duration<long double, std::nano>;  // Holds every time of every clock.
  const Wide left = Wide(when.time_since_epoch()) - Wide(Clock::now().time_since_epoch());
  if (left <= Wide::zero()) return Duration::zero();
  return left < Wide(Duration::max()) ? std::chrono::ceil<Duration>(left) : Duration::max();
}

/// Suspends until `when` has come by its clock. One that is set back meanwhile is waited for
/// longer. May suspend.
template <class Time>
requires requires(const Time& when) { until(when); }
void delay_until(const Time& when, SourcePlace place = SourcePlace::current()) {
  for (Duration left = until(when); left > Duration::zero(); left = until(when)) delay(left, place);
}

}  // namespace fermata
