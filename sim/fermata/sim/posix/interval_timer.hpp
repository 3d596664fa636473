// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include <cstdint>
#include <functional>

#include "fermata/base/time.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/machine/node_clock.hpp"

namespace fermata::sim::detail {

class Machine;

/// A timer by a clock of a machine, which expires once, or again and again. When it has expired it
/// rests until that is taken note of, and then knows how often it would have.
class IntervalTimer final : private WallClockWatcher {
 public:
  /// `key` names it in the keys of draws. It calls `expired`, which must not run user code.
  IntervalTimer(Machine& machine, clockid_t clock, std::uint64_t key,
                std::function<void()> expired);
  IntervalTimer(const IntervalTimer&) = delete;
  IntervalTimer& operator=(const IntervalTimer&) = delete;
  ~IntervalTimer();

  /// Sets it like timer_settime(); a value of zero stops it. REQUIRES: both are times.
  void set(bool absolute, const itimerspec& setting);
  [[nodiscard]] itimerspec left() const;
  [[nodiscard]] bool is_armed() const noexcept { return armed_; }
  [[nodiscard]] bool has_expired() const noexcept { return has_expired_; }
  [[nodiscard]] bool repeats() const noexcept { return interval_ > Duration::zero(); }
  /// How often it has expired since it was set, or since this was asked. It goes on.
  std::uint64_t take();

 private:
  /// What its clock shows, as the machine's clock shows it.
  [[nodiscard]] Duration shown() const;
  void schedule(Instant earliest);
  void expire();
  void clock_was_set() override;

  Machine& machine_;
  clockid_t clock_;
  clockid_t counted_;  // The clock of `due_`: what is relative follows no time of day.
  std::uint64_t key_;
  std::function<void()> expired_;
  Duration due_{};       // Meaningful while it is armed.
  Duration interval_{};  // Zero: it expires once.
  bool armed_ = false;
  bool has_expired_ = false;
  MemberHappening<IntervalTimer, &IntervalTimer::expire> expiry_;
};

}  // namespace fermata::sim::detail
