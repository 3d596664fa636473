// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs one program again and again, each time in a world with other decisions.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/record/catalogue.hpp"
#include "fermata/sim/record/failure.hpp"
#include "fermata/sim/run/output.hpp"
#include "fermata/sim/run/program.hpp"
#include "fermata/sim/run/test_failures.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sim/world/world_access.hpp"

namespace fermata::sim {

class RunLog;

namespace detail {
struct StepAccount;

/// What is said of a run that was another one the second time, for no other reason that is known.
inline constexpr std::string_view kStateLeaks =
    "state leaks between runs: the same seed, run again, gave another run";
}  // namespace detail

/// The result of one run.
struct RunResult {
  std::optional<Failure> failure;
  /// Why it was skipped, if it was.
  std::optional<std::string> skipped;
  std::uint64_t trace_hash = 0;
  std::uint64_t steps = 0;
  std::uint64_t draws = 0;
  Instant end;

  [[nodiscard]] bool same_run(const RunResult& other) const noexcept {
    return trace_hash == other.trace_hash && steps == other.steps && draws == other.draws &&
           end == other.end;
  }
  /// The signature of its failure, or "pass".
  [[nodiscard]] std::string signature() const {
    return failure ? failure->signature() : std::string("pass");
  }
};

class Runner final : private Whereabouts, private detail::OutputListener {
 public:
  /// Throws Error when there is no such strategy. `program` must outlive this. `instruments` are
  /// attached to each run.
  Runner(const Program& program, std::string_view strategy, const WorldOptions& options,
         const detail::Instruments& instruments = {});
  Runner(const Program& program, std::unique_ptr<Strategy> strategy, const WorldOptions& options,
         const detail::Instruments& instruments = {});
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  RunResult run(std::uint64_t seed);
  /// A run that is audited by samples. If it fails it is run again, audited like others, and the
  /// result is that of the second run.
  RunResult run_sampled(std::uint64_t seed);
  /// Whether run_sampled() has left steps of the last run to be audited.
  [[nodiscard]] bool was_sampled() const noexcept { return sampled_; }
  /// Repeats the last run, which was_sampled(), audited like others. Not after learn().
  RunResult audit(std::uint64_t seed);
  /// A run with the decisions of `replay`. Nothing is learnt from it.
  RunResult replay(const Preparation& preparation, Replay& replay);
  /// A run whose first `draws` draws follow `replay`; the strategy answers all others, from `seed`.
  RunResult replay_then_explore(const Preparation& preparation, Replay& replay, std::uint64_t draws,
                                std::uint64_t seed);

  /// The last run is over: the strategy learns from it, whether no earlier one was like it, and
  /// whether it failed.
  void learn(bool is_new = false, bool failed = false) { decisions_.end(is_new, failed); }

  /// What the strategy says of itself; see Strategy.
  [[nodiscard]] bool enumerates() const { return strategy_->enumerates(); }
  [[nodiscard]] bool is_exhausted() const { return strategy_->is_exhausted(); }
  [[nodiscard]] std::string coverage() const { return strategy_->coverage(); }
  [[nodiscard]] std::vector<StrategyShare> shares() const { return strategy_->shares(); }

  /// Repeats the run `before` of `seed` with a shifted heap and other stacks. Returns what is
  /// different, if anything is. Not after learn().
  std::optional<Failure> twin(std::uint64_t seed, const RunResult& before);
  /// Repeats the run `before` of `seed` in a world where that run has just been ended by force
  /// somewhere in the middle. Returns what is different, if anything is.
  std::optional<Failure> second_life(std::uint64_t seed, const RunResult& before);

  /// The trace hash after each step of the run of `seed`; with `shifted` on the other heap. It has
  /// no run log. `probe`, if there is one, looks at it.
  std::vector<std::uint64_t> steps_of(std::uint64_t seed, bool shifted, StepProbe* probe = nullptr);
  /// The account of one step of such a run.
  detail::StepAccount account_of(std::uint64_t seed, bool shifted, std::uint64_t step);
  /// A run on a shifted heap and other stacks; others for each `variant`.
  RunResult run_shifted(std::uint64_t seed, std::uint64_t variant);

  /// Whether later runs keep names of draws, the trace hash after each step, and a run log.
  void set_recording(bool recording);

  /// Sets the listener for decisions of later runs, instead of their run logs; null: none. Must
  /// outlive this.
  void set_listener(DecisionListener* listener) noexcept { listener_ = listener; }

  // --- the last run ---

  /// Counts of all runs so far, without twins, runs of steps_of(), and runs that were recorded.
  [[nodiscard]] std::span<const AssertionCounts> assertion_counts() const noexcept {
    return detail::WorldAccess(world_).assertion_counts();
  }

  [[nodiscard]] const Decisions& decisions() const noexcept { return decisions_; }
  [[nodiscard]] const World& world() const noexcept { return *running_; }
  [[nodiscard]] const std::string& output() const noexcept { return output_.text(); }
  /// Null unless the run was recorded.
  [[nodiscard]] std::shared_ptr<const RunLog> run_log() const noexcept { return run_log_; }
  /// The strategy's name with all that it knew when the run began.
  [[nodiscard]] std::string strategy() const { return strategy_->name(); }

 private:
  /// While it lives, assertions are not counted.
  class Uncounted {
   public:
    explicit Uncounted(const World& world);
    Uncounted(const Uncounted&) = delete;
    Uncounted& operator=(const Uncounted&) = delete;
    ~Uncounted();

   private:
    detail::WorldAccess world_;
    std::vector<AssertionCounts> before_;
  };

  [[nodiscard]] Instant now() const override { return running_->now(); }
  [[nodiscard]] std::uint64_t step() const override {
    return detail::WorldAccess(*running_).present_step();
  }
  [[nodiscard]] std::string coroutine() const override {
    return detail::WorldAccess(*running_).current_coroutine();
  }
  [[nodiscard]] std::string line_head() const override;
  void printed(std::string_view text, bool continues) override {
    detail::WorldAccess(*running_).printed(text, continues);
  }

  RunResult run_in(World& world, const WorldOptions& options,
                   const detail::Instruments& instruments, const Preparation& preparation);
  /// Starts the log of a run that is not a twin; it is null unless the run is recorded.
  void start_run_log();
  void listen_as_usual();
  std::optional<Failure> compare(std::uint64_t seed, const RunResult& before,
                                 std::string_view circumstances);
  /// A run in the other world that is ended by force, if there is to be one.
  void live_first(std::uint64_t seed);
  /// In the other world, on the other heap.
  RunResult run_in_other_world(WorldOptions options, const detail::Instruments& instruments,
                               std::uint64_t seed);
  RunResult run_either(const detail::Instruments& instruments, std::uint64_t seed, bool shifted);
  /// The first step that differs on the two heaps, with both sides; null when none does any more,
  /// so that it is not the heap that made the difference.
  std::optional<std::string> first_difference(std::uint64_t seed);

  const Program& program_;
  WorldOptions options_;
  detail::Instruments instruments_;
  std::unique_ptr<Strategy> strategy_;
  Decisions decisions_;
  World world_;
  std::unique_ptr<World> other_world_;  // With other stacks.
  World* running_ = &world_;
  bool recording_ = false;
  bool sampled_ = false;                // The last run.
  std::optional<Uncounted> uncounted_;  // While watching.
  std::shared_ptr<RunLog> run_log_;     // Of the last run.
  DecisionListener* listener_ = nullptr;
  std::uint64_t twins_ = 0;
  std::uint64_t first_life_ = 0;  // How many steps live_first() makes; 0 for none.
  detail::Output output_;
  detail::TestFailures test_failures_;
};

}  // namespace fermata::sim
