// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/timerfd.h>

#include <cstdint>

#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

/// A timerfd(2).
class TimerDescriptor final : public Description {
 public:
  TimerDescriptor(Machine& machine, std::uint64_t serial, clockid_t clock);

  /// `before` may be null. Returns 0.
  int set(int flags, const itimerspec& setting, itimerspec* before);
  [[nodiscard]] itimerspec left() const;

  [[nodiscard]] std::string maker() override { return "the clock"; }
  [[nodiscard]] ssize_t read(std::span<const iovec> target) override;
  [[nodiscard]] Readiness readiness() override { return expirations_ > 0 ? Readiness{EPOLLIN} : 0; }

 private:
  /// What its clock shows, as the machine's clock shows it.
  [[nodiscard]] Duration shown() const;
  void schedule();
  void expire();

  clockid_t clock_;
  Duration due_{};       // On its clock; meaningful while it is armed.
  Duration interval_{};  // Zero: it expires once.
  bool armed_ = false;
  std::uint64_t expirations_ = 0;  // That nobody has read.
  MemberHappening<TimerDescriptor> expiry_;
};

}  // namespace fermata::sim::detail
