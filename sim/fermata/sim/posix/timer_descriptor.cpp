// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/timer_descriptor.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/clock.hpp"

namespace fermata::sim::detail {

TimerDescriptor::TimerDescriptor(Machine& machine, std::uint64_t serial, clockid_t clock)
    : Description(machine, "timerfd", serial),
      clock_(clock),
      timer_(machine, clock, key(), [this] { changed(EPOLLIN); }) {
  status = O_RDWR;
  if (is_wall_clock(clock)) machine.clock().add(*this);
}

TimerDescriptor::~TimerDescriptor() {
  if (is_wall_clock(clock_)) machine().clock().remove(*this);
}

int TimerDescriptor::set(int flags, const itimerspec& setting, itimerspec* before) {
  if (before != nullptr) *before = left();
  const bool absolute = (flags & TFD_TIMER_ABSTIME) != 0;
  timer_.set(absolute, setting);
  tells_of_clock_ = is_wall_clock(clock_) && absolute && (flags & TFD_TIMER_CANCEL_ON_SET) != 0;
  const bool was_cancelled = std::exchange(cancelled_, false);
  changed();
  return timer_.is_armed() && tells_of_clock_ && was_cancelled ? -ECANCELED : 0;
}

void TimerDescriptor::clock_was_set() {
  if (!tells_of_clock_) return;
  cancelled_ = true;
  changed(EPOLLIN);
}

ssize_t TimerDescriptor::read(std::span<const iovec> target) {
  if (target.empty()) return 0;
  if (size_of(target) < sizeof(std::uint64_t)) return -EINVAL;
  const std::uint64_t expirations = timer_.take();
  if (std::exchange(cancelled_, false)) return -ECANCELED;
  if (expirations == 0) return -EAGAIN;
  scatter(std::as_bytes(std::span(&expirations, 1)), target);
  return sizeof expirations;
}

}  // namespace fermata::sim::detail
