// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <memory>

#include "fermata/posix/timers.hpp"
#include "fermata/sim/posix/interval_timer.hpp"

namespace fermata::sim::detail {

class ForeignSignals;
class Machine;

/// Timers of a simulated process that send signals: timer_create(2). Each has one signal under way
/// at most; what expires meanwhile is told with it, and by timer_getoverrun().
class ForeignTimers final : public posix::Timers {
 public:
  ForeignTimers(ForeignSignals& signals, Machine& machine) noexcept
      : signals_(signals), machine_(machine) {}

  void begin_life() noexcept { made_ = 0; }
  /// The process ends, or its main coroutine does.
  void clear() noexcept { timers_.clear(); }
  /// The signal of a timer is let in: tells the rest in `info`. The timer goes on.
  void let_in(siginfo_t& info);
  /// A signal is not ignored any more: timers that have expired meanwhile and go on send it.
  void is_heard(int signal);
  /// A signal that waited is dropped.
  void is_dropped(int signal) noexcept;

  int create(clockid_t clock, const sigevent* event, int& timer) override;
  int set(int timer, int flags, const itimerspec& setting, itimerspec* before) override;
  int get(int timer, itimerspec& left) override;
  int overrun(int timer) override;
  int remove(int timer) override;

 private:
  struct Timer {
    int number;
    int signal;            // 0: it sends none.
    std::uint64_t thread;  // Who gets it; 0: the process.
    sigval value;
    int overrun = 0;
    bool is_under_way = false;
    std::unique_ptr<IntervalTimer> clock;
  };

  [[nodiscard]] Timer* find(int timer) noexcept;
  void expired(Timer& timer);

  ForeignSignals& signals_;
  Machine& machine_;
  std::map<int, Timer> timers_;
  int made_ = 0;
};

}  // namespace fermata::sim::detail
