// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/alarm.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/clock.hpp"

namespace fermata::os {

Alarm::Alarm() : descriptor_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  if (descriptor_ < 0) throw InputOutputError("create a timer descriptor", errno);
}

Alarm::~Alarm() { ::close(descriptor_); }

void Alarm::set(Instant at) noexcept {
  FERMATA_ASSERT(at.nanoseconds > 0);  // Zero would mean never to the system.
  if (std::exchange(at_, at) == at) return;
  itimerspec setting = {};
  if (at != Instant::never()) setting.it_value = to_timespec(at.nanoseconds);
  const int code = ::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &setting, nullptr);
  FERMATA_ASSERT(code == 0);
}

void Alarm::acknowledge() noexcept {
  std::uint64_t expirations = 0;
  if (::read(descriptor_, &expirations, sizeof expirations) > 0) at_ = Instant::never();
}

}  // namespace fermata::os
