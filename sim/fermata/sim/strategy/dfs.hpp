// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every schedule, one after the other, depth first: for tests with a few dozen steps. The first run
// is production's order. The exploration ends when there is nothing left to try, and says what it
// has covered: "all 24 schedules", "all 24 classes of schedules", or "24 schedules, not all".
//
// World      Calm: nothing but the order of coroutines varies. There are no faults, every draw of
//            another stream is 0, and the seed is the same in all runs. coverage() says so.
// Classes    Two schedules that differ only in the order of independent steps end in the same way;
//            of each class of such schedules one is run, and no two of one class run to their end
//            (sleep sets: P. Godefroid, "Partial-order methods for the verification of concurrent
//            systems", LNCS 1032, 1996; where to branch: source sets, see races.hpp).
// Sound      Two steps are independent when they are known to have nothing in common. What a step
//            does to plain variables nobody sees, so by default every step may have used
//            everything, and every schedule is run. A program that says
//            world.sharing_is_announced() promises to name what its coroutines share, with
//            touches() and reads(), in each step that uses it. What is done to the runtime's own
//            objects is known anyhow: by traces, and where there are none because nobody waits (a
//            mutex that is free, a channel with room, whether a coroutine has ended) by
//            Event::touched(), as a write. From the moment when time, I/O, a scope, a pool, an
//            event of the program's own or a second machine takes part each step counts as using
//            everything: its place in the order of all steps may matter.
// dfs:N      Only schedules with at most N picks that are not production's, all of them: those that
//            a tape describes with N decisions. After M. Musuvathi, S. Qadeer, "Iterative context
//            bounding", PLDI 2007, and delay bounding. Without classes, which a bound would cut
//            through.
// Memory     Of a run the first kDeepest picks are varied; when one has more, not all was covered.
// Learnt     name() is `dfs:at=` and the picks of the run as indices in production's order, without
//            the zeros at the end: it gives that one run again.

#include <string>
#include <vector>

#include "fermata/sim/strategy/races.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

class DfsStrategy final : public Strategy {
 public:
  /// `bound` is N, kUnbounded without.
  explicit DfsStrategy(std::uint64_t bound = kUnbounded) : bound_(bound) {}
  /// Repeats the one run with these picks.
  DfsStrategy(std::uint64_t bound, std::vector<std::uint32_t> picks);

  [[nodiscard]] std::string name() const override;
  void begin_run(std::uint64_t seed) override;
  std::size_t pick(const Candidates& candidates) override;
  std::uint64_t draw(backend::RandomStream /*stream*/, std::uint64_t /*key*/,
                     std::uint64_t /*bound*/) override {
    return 0;
  }
  std::uint64_t draw_rarely(backend::RandomStream /*stream*/, std::uint64_t /*key*/,
                            std::uint64_t /*bound*/, Odds /*odds*/) override {
    return 0;
  }
  void end_run(const RunSummary& run) override;

  [[nodiscard]] StepNews news() const override {
    return bound_ == kUnbounded ? StepNews::Footprints : StepNews::None;
  }
  void end_step(std::uint64_t path, const Footprint& footprint) override;

  [[nodiscard]] bool enumerates() const override { return true; }
  [[nodiscard]] bool is_exhausted() const override { return exhausted_; }
  [[nodiscard]] std::string coverage() const override;

  static constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};
  static constexpr std::size_t kDeepest = 10'000;
  /// Independence is not looked for in a longer run: every schedule of it is tried.
  static constexpr std::size_t kMostStepsToCompare = 2'000;

 private:
  /// A coroutine whose next step has been tried, or need not be.
  struct Asleep {
    std::uint64_t path;
    Uses uses;
  };
  /// One pick of the schedules that are tried now.
  struct Node {
    std::vector<std::uint64_t> candidates;
    std::vector<bool> wanted;  // Which of them are to be tried, or have been.
    std::vector<bool> tried;
    std::vector<Asleep> asleep;  // When it was met, and those that have been tried since.
    std::size_t chosen = 0;
    std::uint64_t deviations = 0;  // Picks before it that are not production's.
    std::size_t step = Step::kNoPick;
  };

  [[nodiscard]] std::size_t pick_again(const Candidates& candidates);
  [[nodiscard]] std::size_t pick_anew(const Candidates& candidates);
  [[nodiscard]] bool is_asleep(std::uint64_t path) const noexcept;
  void close_step();
  void wake(const Step& step);
  void find_branches();
  void want_one_of(Node& node, const std::vector<std::uint64_t>& paths);
  void want_all();
  [[nodiscard]] bool next_schedule();
  [[nodiscard]] bool advance(Node& node);
  static bool in_bound(const Node& node, std::size_t index, std::uint64_t bound) noexcept {
    return bound == kUnbounded || node.deviations + (index != 0) <= bound;
  }

  std::uint64_t bound_;
  bool one_run_ = false;
  std::vector<std::uint32_t> given_;  // Of the one run.

  std::vector<Node> nodes_;
  std::size_t planned_ = 0;  // Nodes whose choice is settled.
  std::uint64_t runs_ = 0;   // Those that did not repeat a class.
  bool reduced_ = false;     // Some step did not use everything.
  bool cut_ = false;         // A run had more picks than are varied.
  bool diverged_ = false;    // The same picks led elsewhere.
  bool exhausted_ = false;

  // The run in progress.
  bool began_ = false;
  std::size_t picked_ = 0;
  std::uint64_t deviations_ = 0;
  std::vector<std::uint32_t> picks_;
  std::vector<Step> steps_;
  std::vector<Asleep> asleep_;
  std::size_t open_ = Step::kNoPick;  // The pick whose step runs.
  std::uint64_t open_path_ = 0;
  bool repeats_ = false;  // Every schedule from here on is one of a class that was run.
};

}  // namespace fermata::sim
