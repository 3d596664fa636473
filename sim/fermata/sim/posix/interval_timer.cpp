// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/interval_timer.hpp"

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/clock.hpp"

namespace fermata::sim::detail {

IntervalTimer::IntervalTimer(Machine& machine, clockid_t clock, std::uint64_t key,
                             std::function<void()> expired)
    : machine_(machine),
      clock_(clock),
      counted_(clock),
      key_(key),
      expired_(std::move(expired)),
      expiry_(*this) {
  if (is_wall_clock(clock)) machine.clock().add(*this);
}

IntervalTimer::~IntervalTimer() {
  if (is_wall_clock(clock_)) machine_.clock().remove(*this);
}

Duration IntervalTimer::shown() const { return clock_shown(machine_, counted_); }

// What is armed and will expire is never zero.
itimerspec IntervalTimer::left() const {
  itimerspec left = {};
  left.it_interval = timespec_of(interval_);
  if (!armed_ || (has_expired_ && !repeats())) return left;
  Duration rest = due_ - shown();
  if (has_expired_ && rest <= Duration::zero()) rest = interval_ - (-rest) % interval_;
  left.it_value = timespec_of(std::max(rest, Duration(1)));
  return left;
}

void IntervalTimer::set(bool absolute, const itimerspec& setting) {
  const Duration value = duration_of(setting.it_value);
  FERMATA_ASSERT(value >= Duration::zero());
  interval_ = duration_of(setting.it_interval);
  has_expired_ = false;
  armed_ = value > Duration::zero();
  counted_ = is_wall_clock(clock_) && !absolute ? CLOCK_MONOTONIC : clock_;
  due_ = absolute ? value : add(shown(), value);
  expiry_.cancel();
  if (armed_) schedule(machine_.now());
}

void IntervalTimer::clock_was_set() {
  if (!armed_ || has_expired_ || !is_wall_clock(counted_)) return;
  expiry_.cancel();
  schedule(machine_.earliest_visible_time());
}

void IntervalTimer::schedule(Instant earliest) {
  const Duration rest = due_ - shown();
  if (rest > kForever) return;
  const Instant shown_due = machine_.clock().shown(machine_.now()) + rest;
  const Instant when = std::max(earliest, machine_.clock().when_shown(shown_due));
  machine_.agenda().schedule(expiry_, when, key_);
}

void IntervalTimer::expire() {
  FERMATA_ASSERT(armed_ && !has_expired_);
  if (shown() < due_) return schedule(machine_.now());
  has_expired_ = true;
  expired_();
}

std::uint64_t IntervalTimer::take() {
  if (!std::exchange(has_expired_, false)) return 0;
  armed_ = repeats();
  if (!armed_) return 1;
  const std::int64_t more = std::max(shown() - due_, Duration::zero()) / interval_;
  due_ = add(due_ + more * interval_, interval_);
  schedule(machine_.now());
  return 1 + static_cast<std::uint64_t>(more);
}

}  // namespace fermata::sim::detail
