// SPDX-License-Identifier: Apache-2.0
#pragma once

// Probabilistic concurrency testing: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A
// randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010. Every coroutine
// gets a random priority and the highest one runs; at depth - 1 random places of the run the
// highest is put below all others. A bug of depth d among n coroutines in k picks is found with a
// probability of at least 1 / (n * k^(d-1)), whatever the program.
//
// Departures from the paper:
//   k           is the length of the longest run so far, so that the bound holds from the second
//               run on; name() carries it.
//   Fairness    a run much longer than k is picked at random from there on: a coroutine of high
//               priority that waits in a loop for others would never let them run.

#include <vector>

#include "fermata/sim/strategy/seeded.hpp"

namespace fermata::sim {

class PctStrategy final : public SeededStrategy {
 public:
  /// `picks` is k; 0 when it is not known yet. REQUIRES: 1 <= depth <= kDeepest.
  PctStrategy(std::uint64_t depth, std::uint64_t picks);

  [[nodiscard]] std::string name() const override;
  void begin_run(std::uint64_t seed) override;
  std::size_t pick(const Candidates& candidates) override;
  void end_run(std::uint64_t picks) override;

  static constexpr std::uint64_t kDeepest = 64;

 private:
  /// After `pick` picks the highest gets `priority`, which is below all initial ones.
  struct ChangePoint {
    std::uint64_t pick;
    std::uint64_t priority;
  };
  struct Lowered {
    std::uint64_t path;
    std::uint64_t priority;
  };

  [[nodiscard]] std::uint64_t priority(std::uint64_t path) const noexcept;
  [[nodiscard]] std::size_t highest(const Candidates& candidates) const noexcept;

  std::uint64_t depth_;
  std::uint64_t longest_;  // Picks of the longest run so far; 0 before the first one.
  std::uint64_t expected_ = 0;
  std::uint64_t salt_ = 0;
  std::uint64_t picked_ = 0;
  std::vector<ChangePoint> change_points_;  // Ascending by pick; depth - 1 of them.
  std::size_t next_change_ = 0;
  std::vector<Lowered> lowered_;  // At most one entry for each path.
};

}  // namespace fermata::sim
