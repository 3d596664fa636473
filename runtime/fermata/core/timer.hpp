// SPDX-License-Identifier: Apache-2.0
#pragma once

// An event that fires when time has passed (TMR-01 to 07). Lives wherever its owner puts it:
// on a stack, in an object, or on the heap through make_timer().

#include <exception>

#include "fermata/base/time.hpp"
#include "fermata/core/event.hpp"

namespace fermata {

namespace detail {
class TimerQueue;
}

enum class TimerMode : std::uint8_t {
  Once,       // closes when it fires
  Periodic,   // fires every interval; a late fire is not made up for
  Multishot,  // one fire for each arming; rearm() arms it again
};

class Timer : public Event {
 public:
  /// Fires `timeout` after it is started (first waited for), counted from a clock read at that
  /// moment. A zero timeout fires on the next turn of the reactor, never inline. Throws UsageError
  /// when `timeout` is negative, or zero for a periodic timer.
  Timer(Runtime& runtime, Duration timeout, TimerMode mode = TimerMode::Once);
  ~Timer() override;

  /// A new deadline, `timeout` from now, for a multishot timer: subscribers and references stay, a
  /// stopped one is active again. Throws UsageError on another mode or a closed timer.
  void rearm(Duration timeout);

  [[nodiscard]] Duration timeout() const noexcept { return timeout_; }
  [[nodiscard]] TimerMode mode() const noexcept { return mode_; }
  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

  /// "Timeout occurred after N milliseconds".
  [[nodiscard]] std::exception_ptr timeout_error() const;

 protected:
  void arm() override;
  void disarm() noexcept override;
  /// Arms a timer that has a deadline of its own; for `arm`.
  void arm_until(Instant deadline);
  /// An embedded timer belongs to whatever holds it.
  void dispose() noexcept override {}

 private:
  friend class detail::TimerQueue;
  friend class Runtime;

  /// The queue has let go of it because it is due.
  void fire();

  Duration timeout_;
  TimerMode mode_;
  bool queued_ = false;
  std::uint32_t queue_index_ = 0;
};

/// A timer on the heap; the reference owns it.
[[nodiscard]] Ref<Timer> make_timer(Runtime& runtime, Duration timeout,
                                    TimerMode mode = TimerMode::Once);

}  // namespace fermata
