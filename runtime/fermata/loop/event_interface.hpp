// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loop as servers use it: one callback for each descriptor and direction and for each signal,
// timers by number. The timers are those of the loop, whoever has registered them.

#include <cstddef>
#include <map>

#include "fermata/loop/loop.hpp"

namespace fermata::loop {

/// Identifies a delay or a repeat; positive, never reused.
using TimerId = CallbackId;

class EventInterface {
 public:
  /// Does not own the loop, which must outlive it; several may share one.
  explicit EventInterface(Loop& loop) noexcept : loop_(loop) {}
  EventInterface(const EventInterface&) = delete;
  EventInterface& operator=(const EventInterface&) = delete;
  /// Cancels its callbacks for descriptors and signals.
  ~EventInterface();

  [[nodiscard]] Loop& loop() const noexcept { return loop_; }

  // --- timers ---

  TimerId delay(TimeSpan span, TimedFunction function, SourcePlace place = SourcePlace::current()) {
    return loop_.delay(span, std::move(function), place);
  }
  TimerId repeat(TimeSpan interval, TimedFunction function,
                 SourcePlace place = SourcePlace::current()) {
    return loop_.repeat(interval, std::move(function), place);
  }
  /// Both take either kind. True when the timer was live; a delay is not while its function runs.
  bool off_delay(TimerId id) { return loop_.cancel_timer(id); }
  bool off_repeat(TimerId id) { return loop_.cancel_timer(id); }
  /// Cancels all timers, including those that are due already.
  void delete_all_timer() { loop_.cancel_timers(); }
  [[nodiscard]] std::size_t get_timer_count() const noexcept { return loop_.timer_count(); }

  // --- descriptors and signals: a second registration replaces the first ---

  void on_readable(int descriptor, SourceFunction function,
                   SourcePlace place = SourcePlace::current());
  void on_writable(int descriptor, SourceFunction function,
                   SourcePlace place = SourcePlace::current());
  void on_signal(int signum, SourceFunction function, SourcePlace place = SourcePlace::current());
  /// True when there was one.
  bool off_readable(int descriptor);
  bool off_writable(int descriptor);
  bool off_signal(int signum);

  // --- control ---

  RunReport run(SourcePlace place = SourcePlace::current()) { return loop_.run(place); }
  void stop() noexcept { loop_.stop(); }
  void set_error_handler(Loop::ErrorHandler handler) {
    loop_.set_error_handler(std::move(handler));
  }

 private:
  using Sources = std::map<int, CallbackId>;
  bool drop(Sources& sources, int key);

  Loop& loop_;
  Sources readable_;
  Sources writable_;
  Sources signals_;
};

}  // namespace fermata::loop
