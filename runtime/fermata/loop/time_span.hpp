// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <type_traits>

#include "fermata/base/time.hpp"

namespace fermata::loop {

/// A time to wait as callers write it, 2.5 for seconds or any duration of std::chrono, converted
/// once to whole nanoseconds (up, so that a timer is never early). Too much for them is forever.
/// Throws UsageError, which gives the value, when it is negative or no number.
class TimeSpan {
 public:
  template <class Rep, class Period>
  TimeSpan(std::chrono::duration<Rep, Period> span)
      : value_(of(std::chrono::duration<long double, std::nano>(span).count())) {
    if constexpr (std::is_same_v<std::chrono::duration<Rep, Period>, Duration>) value_ = span;
  }
  template <class Number>
  requires(std::is_arithmetic_v<Number>) TimeSpan(Number seconds)
      : TimeSpan(std::chrono::duration<Number>(seconds)) {}

  [[nodiscard]] Duration value() const noexcept { return value_; }

 private:
  static Duration of(long double nanoseconds);

  Duration value_;
};

}  // namespace fermata::loop
