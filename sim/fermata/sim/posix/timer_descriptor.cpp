// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/timer_descriptor.hpp"

#include <fcntl.h>

namespace fermata::sim::detail {

TimerDescriptor::TimerDescriptor(Machine& machine, std::uint64_t serial, clockid_t clock)
    : Description(machine, "timerfd", serial),
      timer_(machine, clock, key(), [this] { changed(EPOLLIN); }) {
  status = O_RDWR;
}

int TimerDescriptor::set(int flags, const itimerspec& setting, itimerspec* before) {
  if (before != nullptr) *before = left();
  timer_.set((flags & TFD_TIMER_ABSTIME) != 0, setting);
  changed();
  return 0;
}

ssize_t TimerDescriptor::read(std::span<const iovec> target) {
  if (target.empty()) return 0;
  if (size_of(target) < sizeof(std::uint64_t)) return -EINVAL;
  const std::uint64_t expirations = timer_.take();
  if (expirations == 0) return -EAGAIN;
  scatter(std::as_bytes(std::span(&expirations, 1)), target);
  return sizeof expirations;
}

}  // namespace fermata::sim::detail
