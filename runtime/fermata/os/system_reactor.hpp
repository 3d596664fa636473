// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every reactor on the system's clocks, signals and threads does alike.

#include <memory>
#include <span>
#include <utility>

#include "fermata/os/clock.hpp"
#include "fermata/os/fork_guard.hpp"
#include "fermata/os/signals.hpp"
#include "fermata/os/triggers.hpp"
#include "fermata/os/watchdog.hpp"

namespace fermata::os {

/// `Loop` waits, and has the attachment; `PollsOfLoop`, its DescriptorPolls, watches in it what
/// users bring.
template <class Loop, class PollsOfLoop>
class SystemReactor : public backend::Reactor {
 public:
  [[nodiscard]] Instant now() noexcept override { return os::now(); }
  [[nodiscard]] WallTime wall_clock() noexcept override { return os::wall_clock(); }

  void attach(Runtime& runtime) override { loop_.attachment().attach(runtime); }

  void turn(backend::TurnMode mode, Instant wake_by) override {
    require_same_process();
    loop_.begin_turn();
    if (mode == backend::TurnMode::Block) wake_by = polls_.check_some(wake_by);
    loop_.wait(mode, wake_by);
    loop_.end_turn();
    deliver_offloaded();
    triggers_.deliver();
    signals_.deliver_raised();
  }

  void wake() noexcept override { loop_.wake(); }

  void watch_control_signals(std::span<const int> signums) override {
    signals_.watch_control(signums);
  }

  [[nodiscard]] std::unique_ptr<backend::Watchdog> make_watchdog(
      Duration limit, backend::Watchdog::Report report) override {
    return std::make_unique<WatchdogThread>(limit, std::move(report));
  }

  [[nodiscard]] fermata::backend::Polls& polls() override { return polls_; }
  [[nodiscard]] fermata::backend::Signals& signals() override { return signals_; }
  [[nodiscard]] fermata::backend::Triggers& triggers() override { return triggers_; }

 protected:
  /// Turns are a few per cent of a busy thread then, also where one costs over a microsecond.
  static constexpr Duration kTurnSpacing = std::chrono::microseconds(50);
  /// How long detach() waits for what has not come to an end.
  static constexpr Duration kDetachLimit = std::chrono::seconds(5);

  /// `arguments`: what a Loop is made of.
  template <class... Arguments>
  explicit SystemReactor(Arguments&&... arguments) : loop_(std::forward<Arguments>(arguments)...) {
    fermata::detail::ignore_broken_pipes();
  }

  /// Ends a forked child that goes on with it.
  void require_same_process() const noexcept { fork_guard_.require_same_process(name()); }

  Loop loop_;
  PollsOfLoop polls_{loop_};
  Signals signals_{loop_.attachment(), *this};
  Triggers triggers_{loop_.attachment(), *this};

 private:
  // --- hook ---

  /// Tells the ends of tasks, where waiting does not.
  virtual void deliver_offloaded() {}

  ForkGuard fork_guard_;
};

}  // namespace fermata::os
