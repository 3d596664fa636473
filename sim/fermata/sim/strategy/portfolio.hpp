// SPDX-License-Identifier: Apache-2.0
#pragma once

// Several strategies by turns, since no one is the best for every bug (as in P. Deligiannis et al.,
// "Industrial-strength controlled concurrency testing for C# programs with Coyote", TACAS 2023).
// Every second run is `random`, so that no bug takes more than twice the runs that it takes of
// random alone. The others are dealt to `urw`, `pos`, `pct:3`, `delay:2` and `fifo`, more often to
// those whose runs of late were unlike all before.
//
// Repeatable  Whose turn it is depends on what the earlier runs of the exploration were, on nothing
//             else. name() is the name of the strategy of the run in progress, with all that that
//             one has learnt from its own runs.

#include <array>
#include <memory>

#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

class PortfolioStrategy final : public Strategy {
 public:
  PortfolioStrategy();

  [[nodiscard]] std::string name() const override;
  void begin_run(std::uint64_t seed) override;
  std::size_t pick(const Candidates& candidates) override { return turn_->pick(candidates); }
  std::uint64_t draw(backend::RandomStream stream, std::uint64_t key,
                     std::uint64_t bound) override {
    return turn_->draw(stream, key, bound);
  }
  std::uint64_t draw_rarely(backend::RandomStream stream, std::uint64_t key, std::uint64_t bound,
                            Odds odds) override {
    return turn_->draw_rarely(stream, key, bound, odds);
  }
  std::uint64_t draw_place(backend::RandomStream stream, std::uint64_t key, std::uint64_t subject,
                           std::uint64_t bound, Odds odds) override {
    return turn_->draw_place(stream, key, subject, bound, odds);
  }
  void end_run(const RunSummary& run) override;
  [[nodiscard]] std::vector<StrategyShare> shares() const override { return shares_; }

  [[nodiscard]] StepNews news() const override { return turn_->news(); }
  void spawned(std::uint64_t parent, std::uint64_t child) override {
    turn_->spawned(parent, child);
  }
  void end_step(std::uint64_t path, const Footprint& footprint) override {
    turn_->end_step(path, footprint);
  }

 private:
  struct Specialist {
    std::unique_ptr<Strategy> strategy;
    std::int64_t runs = 0;      // Of late.
    std::int64_t new_runs = 0;  // Those of them that were unlike all before.
    std::int64_t credit = 0;

    [[nodiscard]] std::int64_t weight() const noexcept;
  };

  void deal();

  std::unique_ptr<Strategy> random_;
  std::array<Specialist, 5> specialists_;
  std::vector<StrategyShare> shares_;  // Of random, then of each specialist.
  Specialist* last_ = nullptr;         // Whose run it is; null: random's.
  Strategy* turn_;
  bool began_ = false;
};

}  // namespace fermata::sim
