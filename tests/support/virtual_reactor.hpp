// SPDX-License-Identifier: Apache-2.0
#pragma once

// The least a runtime needs: a clock that jumps to the next deadline, and no I/O. For unit tests of
// the core, which must not depend on a real reactor.

#include <csignal>
#include <functional>
#include <span>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/core/reactor.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::test {

class VirtualReactor final : public backend::Reactor {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "virtual"; }
  [[nodiscard]] Instant now() noexcept override { return now_; }
  [[nodiscard]] WallTime wall_clock() noexcept override { return {now_.nanoseconds}; }
  void attach(Runtime& runtime) override { runtime_ = &runtime; }
  std::vector<std::string> detach() noexcept override { return {}; }

  void turn(backend::TurnMode mode, Instant wake_by) override {
    ++turns;
    if (mode == backend::TurnMode::Block) {
      ++blocking_turns;
      if (on_block) on_block();
      if (wake_by != Instant::never() && wake_by > now_) now_ = wake_by;
    }
    runtime_->fire_timers();
    if (on_turn) on_turn();
  }

  void wake() noexcept override {}
  void watch_control_signals(std::span<const int> signums) override {
    watched_signals.assign(signums.begin(), signums.end());
  }

  /// Moves the clock inside a step, as work of a coroutine would.
  void advance(Duration span) { now_ = now_ + span; }

  std::vector<int> watched_signals;
  int turns = 0;
  int blocking_turns = 0;
  std::function<void()> on_block;  // Called before each blocking wait.
  std::function<void()> on_turn;   // Called at the end of each turn, in scheduler context.

 private:
  Instant now_{1'000'000'000};
  Runtime* runtime_ = nullptr;
};

/// A runtime on a virtual reactor, with its log kept in memory.
class TestRuntime {
 public:
  explicit TestRuntime(RuntimeOptions options = {})
      : reactor(new VirtualReactor),
        runtime(std::unique_ptr<backend::Reactor>(reactor), logged(options)) {}

  template <class Body>
  int run(Body&& body) {
    return runtime.run(std::forward<Body>(body));
  }

  std::string log;
  VirtualReactor* reactor;
  Runtime runtime;

 private:
  RuntimeOptions logged(RuntimeOptions options) {
    options.log = [this](std::string_view text) { log += std::string(text) + "\n"; };
    return options;
  }
};

}  // namespace fermata::test
