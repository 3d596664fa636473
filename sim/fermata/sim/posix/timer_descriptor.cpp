// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/timer_descriptor.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"

#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/clock.hpp"

namespace fermata::sim::detail {

TimerDescriptor::TimerDescriptor(Machine& machine, std::uint64_t serial, clockid_t clock)
    : Description(machine, "timerfd", serial),
      clock_(clock),
      expiry_(*this, &TimerDescriptor::expire) {
  status = O_RDWR;
}

Duration TimerDescriptor::shown() const { return clock_shown(machine(), clock_); }

itimerspec TimerDescriptor::left() const {
  itimerspec left = {};
  left.it_interval = timespec_of(interval_);
  // Armed is never zero.
  if (armed_) left.it_value = timespec_of(std::max(due_ - shown(), Duration(1)));
  return left;
}

int TimerDescriptor::set(int flags, const itimerspec& setting, itimerspec* before) {
  if (before != nullptr) *before = left();
  const Duration value = duration_of(setting.it_value);
  interval_ = duration_of(setting.it_interval);
  expirations_ = 0;
  FERMATA_ASSERT(value >= Duration::zero());
  armed_ = value > Duration::zero();
  due_ = (flags & TFD_TIMER_ABSTIME) != 0 ? value : shown() + value;
  expiry_.cancel();
  if (armed_) schedule();
  changed();
  return 0;
}

// A clock that is set meanwhile is looked at again when the time has come.
void TimerDescriptor::schedule() {
  const Instant shown_due = machine().clock().shown(machine().now()) + (due_ - shown());
  const Instant when = std::max(machine().now(), machine().clock().when_shown(shown_due));
  machine().agenda().schedule(expiry_, when, key());
}

void TimerDescriptor::expire() {
  const Duration late = shown() - due_;
  if (late < Duration::zero()) return schedule();
  ++expirations_;
  if (interval_ > Duration::zero()) {
    const std::int64_t more = late / interval_;
    expirations_ += static_cast<std::uint64_t>(more);
    due_ += (more + 1) * interval_;
    schedule();
  } else {
    armed_ = false;
  }
  changed(EPOLLIN);
}

ssize_t TimerDescriptor::read(std::span<const iovec> target) {
  if (target.empty()) return 0;
  if (size_of(target) < sizeof expirations_) return -EINVAL;
  if (expirations_ == 0) return -EAGAIN;
  const std::uint64_t taken = std::exchange(expirations_, 0);
  scatter(std::as_bytes(std::span(&taken, 1)), target);
  return sizeof taken;
}

}  // namespace fermata::sim::detail
