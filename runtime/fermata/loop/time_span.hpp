// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>
#include <type_traits>

#include "fermata/base/time.hpp"

namespace fermata::loop {

/// A time to wait as callers write it, 2.5 for seconds or any duration of std::chrono, converted
/// once to whole nanoseconds (up, so that a timer is never early). Too much for them is forever.
/// Throws UsageError, which gives the value, when it is negative or no number.
class TimeSpan {
 public:
  template <class Rep, class Period>
  TimeSpan(std::chrono::duration<Rep, Period> span) : value_(exactly(span)) {
    if (value_ < Duration::zero()) {
      value_ = of(std::chrono::duration<long double, std::nano>(span).count());
    }
  }
  template <class Number>
  requires(std::is_arithmetic_v<Number>) TimeSpan(Number seconds)
      : TimeSpan(std::chrono::duration<Number>(seconds)) {}

  [[nodiscard]] Duration value() const noexcept { return value_; }

 private:
  /// Without arithmetic of fractions; negative when it cannot be had so.
  template <class Rep, class Period>
  [[nodiscard]] static constexpr Duration exactly(std::chrono::duration<Rep, Period> span) {
    using Ratio = std::ratio_divide<Period, Duration::period>;
    if constexpr (std::is_integral_v<Rep> && Ratio::den == 1) {
      constexpr auto kMost = static_cast<std::uintmax_t>(Duration::max().count() / Ratio::num);
      if (span.count() >= 0 && static_cast<std::uintmax_t>(span.count()) <= kMost) {
        return Duration(static_cast<Duration::rep>(span.count()) * Ratio::num);
      }
    }
    return Duration(-1);
  }
  static Duration of(long double nanoseconds);

  Duration value_;
};

}  // namespace fermata::loop
