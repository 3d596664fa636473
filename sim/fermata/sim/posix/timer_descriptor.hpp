// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/timerfd.h>

#include <cstdint>

#include "fermata/sim/posix/description.hpp"
#include "fermata/sim/posix/interval_timer.hpp"

namespace fermata::sim::detail {

/// A timerfd(2).
class TimerDescriptor final : public Description {
 public:
  TimerDescriptor(Machine& machine, std::uint64_t serial, clockid_t clock);

  /// `before` may be null. Returns 0.
  int set(int flags, const itimerspec& setting, itimerspec* before);
  [[nodiscard]] itimerspec left() const { return timer_.left(); }

  [[nodiscard]] std::string maker() override { return "the clock"; }
  [[nodiscard]] ssize_t read(std::span<const iovec> target) override;
  [[nodiscard]] Readiness readiness() override {
    return timer_.has_expired() ? Readiness{EPOLLIN} : 0;
  }

 private:
  IntervalTimer timer_;
};

}  // namespace fermata::sim::detail
