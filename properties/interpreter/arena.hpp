// SPDX-License-Identifier: Apache-2.0
#pragma once

// A runtime of its own for one program at a time, inside a run that is being explored: its draws
// are answered, and recorded, by the run's chooser. A program may deadlock or fail here; in a node
// that would be the verdict on the run, in an arena it is for the law to judge.

#include <exception>
#include <functional>
#include <string>

#include "fermata/core/runtime.hpp"
#include "fermata/sim/audit/audit.hpp"
#include "fermata/sim/record/run_state.hpp"
#include "properties/models/complaint.hpp"

namespace fermata::properties {

/// What is wrong with a run; the first finding counts.
class Findings final : public sim::detail::RunState {
 public:
  Findings() = default;
  void add(const models::Complaint& complaint) {
    if (first_.empty()) first_ = complaint;
  }
  void fail(sim::Failure failure) override {
    hash.stop();
    add(failure.message);
  }
  void forget() {
    first_.clear();
    hash.reset();
    steps = 0;
    step_hashes.clear();
  }
  [[nodiscard]] bool any() const noexcept { return !first_.empty(); }
  [[nodiscard]] const models::Complaint& first() const noexcept { return first_; }

 private:
  models::Complaint first_;
};

/// Time and nothing else: it jumps to the next deadline.
class ClockReactor final : public backend::Reactor {
 public:
  explicit ClockReactor(Findings& findings) noexcept : findings_(findings) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "clock"; }
  [[nodiscard]] Instant now() noexcept override { return now_; }
  [[nodiscard]] WallTime wall_clock() noexcept override { return {now_.nanoseconds}; }
  void attach(Runtime& runtime) override { runtime_ = &runtime; }
  std::vector<std::string> detach() noexcept override { return {}; }
  void turn(backend::TurnMode mode, Instant wake_by) override;
  void wake() noexcept override {}
  void watch_control_signals(std::span<const int>) override {}

  /// What now() gives.
  [[nodiscard]] const Instant& time() const noexcept { return now_; }
  /// The step that runs takes `span`.
  void advance(Duration span);
  void reset() noexcept { now_ = Instant{}; }

 private:
  void set(Instant now);

  Findings& findings_;
  Runtime* runtime_ = nullptr;
  Instant now_;
};

class Arena {
 public:
  Arena();

  /// How a run ended.
  struct Ending {
    std::exception_ptr error;  // What Runtime::run threw.
    bool cut = false;          // A finding ended it at once.
    std::string log;
  };

  /// Runs `main` under the simulator's audit and under `witness`, which may be the audit's only
  /// listener and forwards to it. `wakes`, unless null, is told who wakes whom.
  Ending run(backend::Chooser* chooser, backend::Observer& witness, sim::WakeListener* wakes,
             const std::function<void()>& main);

  [[nodiscard]] Runtime& runtime() noexcept { return runtime_; }
  [[nodiscard]] ClockReactor& clock() noexcept { return *clock_; }
  [[nodiscard]] sim::detail::Audit& audit() noexcept { return audit_; }
  [[nodiscard]] Findings& findings() noexcept { return findings_; }

 private:
  RuntimeOptions options();

  Findings findings_;
  std::string log_;
  ClockReactor* clock_;  // Belongs to the runtime.
  Runtime runtime_;
  sim::detail::Audit audit_{findings_, clock_->time()};
};

}  // namespace fermata::properties
