// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/loop/event_interface.hpp"

namespace fermata::loop {

/// Timers of the current loop, wherever one is at hand: each belongs to nobody until it is deleted
/// or has run.
class Timer {
 public:
  Timer() = delete;

  static TimerId delay(TimeSpan span, TimedFunction function,
                       SourcePlace place = SourcePlace::current()) {
    return Loop::current().delay(span, std::move(function), place);
  }
  static TimerId repeat(TimeSpan interval, TimedFunction function,
                        SourcePlace place = SourcePlace::current()) {
    return Loop::current().repeat(interval, std::move(function), place);
  }
  /// True when the timer was live.
  static bool del(TimerId id) { return Loop::current().cancel_timer(id); }
};

}  // namespace fermata::loop
