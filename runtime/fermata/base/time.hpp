// SPDX-License-Identifier: Apache-2.0
#pragma once

// Points and spans of a runtime's monotonic time. There is no clock here: a Runtime is asked for
// the time, and it asks its Reactor.

#include <chrono>
#include <cstdint>
#include <limits>

namespace fermata {

/// A span, in nanoseconds; shorter chrono literals convert to it without a cast.
using Duration = std::chrono::nanoseconds;

/// A point of monotonic time; nanoseconds since an epoch that only the reactor knows.
struct Instant {
  std::int64_t nanoseconds = 0;

  static constexpr Instant never() noexcept {
    return Instant{std::numeric_limits<std::int64_t>::max()};
  }

  friend constexpr auto operator<=>(Instant, Instant) = default;

  /// Saturates at never() and at the epoch instead of overflowing.
  friend constexpr Instant operator+(Instant at, Duration span) noexcept {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(at.nanoseconds, span.count(), &sum)) {
      return span.count() > 0 ? never() : Instant{0};
    }
    return Instant{sum};
  }

  friend constexpr Instant operator-(Instant at, Duration span) noexcept {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(at.nanoseconds, span.count(), &difference)) {
      return span.count() < 0 ? never() : Instant{0};
    }
    return Instant{difference};
  }

  friend constexpr Duration operator-(Instant later, Instant earlier) noexcept {
    return Duration(later.nanoseconds - earlier.nanoseconds);
  }
};

}  // namespace fermata
