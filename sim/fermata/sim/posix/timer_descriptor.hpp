// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/timerfd.h>

#include <cstdint>

#include "fermata/sim/machine/node_clock.hpp"
#include "fermata/sim/posix/description.hpp"
#include "fermata/sim/posix/interval_timer.hpp"

namespace fermata::sim::detail {

/// A timerfd(2).
class TimerDescriptor final : public Description, private WallClockWatcher {
 public:
  TimerDescriptor(Machine& machine, std::uint64_t serial, clockid_t clock);
  ~TimerDescriptor() override;

  /// `before` may be null. Returns 0, or -ECANCELED when it is set, but its clock has been, too.
  int set(int flags, const itimerspec& setting, itimerspec* before);
  [[nodiscard]] itimerspec left() const { return timer_.left(); }

  [[nodiscard]] std::string maker() override { return "the clock"; }
  [[nodiscard]] ssize_t read(std::span<const iovec> target) override;
  [[nodiscard]] Readiness readiness() override {
    return timer_.has_expired() || cancelled_ ? Readiness{EPOLLIN} : 0;
  }

 private:
  void clock_was_set() override;

  clockid_t clock_;
  IntervalTimer timer_;
  bool tells_of_clock_ = false;  // When its clock is set, it is cancelled.
  bool cancelled_ = false;       // Nobody has been told so.
};

}  // namespace fermata::sim::detail
