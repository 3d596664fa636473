// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/timerfd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/time.hpp"
#include "fermata/os/clock.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

/// A descriptor that is readable from an instant of CLOCK_MONOTONIC on, to the nanosecond and never
/// early: how the loops of others are told when to be back.
class Alarm {
 public:
  /// Throws InputOutputError.
  Alarm() : descriptor_(kernel.timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
    if (descriptor_ < 0) throw InputOutputError("create a timer descriptor", errno);
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { kernel.close(descriptor_); }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// Not at all for never(). Costs a system call when it changes. REQUIRES: `at` is after the
  /// epoch.
  void set(Instant at) noexcept {
    FERMATA_ASSERT(at.nanoseconds > 0);  // Zero would mean never to the system.
    if (std::exchange(at_, at) == at) return;
    itimerspec setting = {};
    if (at != Instant::never()) setting.it_value = to_timespec(at.nanoseconds);
    const int code = kernel.timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &setting, nullptr);
    FERMATA_ASSERT(code == 0);
  }

  /// Not readable any more, and not set.
  void acknowledge() noexcept {
    std::uint64_t expirations = 0;
    if (kernel.read(descriptor_, &expirations, sizeof expirations) > 0) at_ = Instant::never();
  }

 private:
  int descriptor_;
  Instant at_ = Instant::never();
};

}  // namespace fermata::os
