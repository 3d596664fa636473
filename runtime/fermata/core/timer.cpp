// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/timer.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata {

namespace {

using std::chrono::ceil;
using std::chrono::milliseconds;

void require_valid(Duration timeout, TimerMode mode) {
  if (timeout < Duration::zero()) {
    throw UsageError(fmt::format("timeout of {} ns: expected zero or more", timeout.count()));
  }
  if (timeout == Duration::zero() && mode == TimerMode::Periodic) {
    throw UsageError("interval of 0 ns: expected more than zero for a periodic timer");
  }
}

class HeapTimer final : public Timer {
 public:
  using Timer::Timer;

 private:
  void dispose() noexcept override { delete this; }
};

}  // namespace

Timer::Timer(Runtime& runtime, Duration timeout, TimerMode mode)
    : Event(runtime, backend::EventKind::Timer), timeout_(timeout), mode_(mode) {
  require_valid(timeout, mode);
}

Timer::~Timer() {
  if (!is_closed()) shut();  // A closed one is disarmed: ~Event does the rest.
  FERMATA_ASSERT(!queued_);
}

void Timer::rearm(Duration timeout) {
  FERMATA_REQUIRE(mode_ == TimerMode::Multishot, "rearm: only a multishot timer can be rearmed");
  FERMATA_REQUIRE(!is_closed(), "rearm: the timer is closed");
  require_valid(timeout, mode_);
  timeout_ = timeout;
  if (loop_ref_count() == 0) return start();
  disarm();
  arm();
  FERMATA_ASSERT(queued_);
}

std::string Timer::info() const {
  return fmt::format("Timer #{} (timeout={}ms, {})", serial(), ceil<milliseconds>(timeout_).count(),
                     mode_ == TimerMode::Periodic ? "periodic" : "once");
}

void Timer::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  facts.is("timer", {}, nullptr);
  if (loop_ref_count() == 0) facts.stopped();
}

std::exception_ptr Timer::timeout_error() const {
  return std::make_exception_ptr(Timeout(
      fmt::format("Timeout occurred after {} milliseconds", ceil<milliseconds>(timeout_).count())));
}

void Timer::arm() { arm_until(runtime().now() + timeout_); }

void Timer::arm_until(Instant deadline) {
  FERMATA_ASSERT(!queued_);
  runtime().timers().push(*this, deadline);
  queued_ = true;
}

void Timer::disarm() noexcept {
  if (!std::exchange(queued_, false)) return;
  runtime().timers().remove(*this);
}

void Timer::fire() {
  queued_ = false;
  switch (mode_) {
    case TimerMode::Once:
      notify_and_close({});
      return;
    case TimerMode::Periodic:
      arm();  // Before the callbacks, so that a stop inside them wins.
      notify({});
      return;
    case TimerMode::Multishot:
      leave_loop();  // However many wait: nothing is armed any more until rearm().
      notify({});
      return;
  }
}

Ref<Timer> make_timer(Runtime& runtime, Duration timeout, TimerMode mode) {
  return Ref<Timer>::adopt(*new HeapTimer(runtime, timeout, mode));
}

}  // namespace fermata
