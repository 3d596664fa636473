// SPDX-License-Identifier: Apache-2.0
#pragma once

// Probabilistic concurrency testing: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A
// randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010. Every coroutine
// gets a random priority and the highest one runs; at depth - 1 random places of the run the
// highest is put below all others. A bug of depth d among n coroutines in k picks is found with a
// probability of at least 1 / (n * k^(d-1)), whatever the program. One that needs d - 1 changes
// between coroutines that could all go on is missed by every smaller depth.
//
// Departure  k is the length of the longest run so far, so that the bound holds from the second run
//            on.

#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/strategy/unfair.hpp"

namespace fermata::sim {

class PctStrategy final : public UnfairStrategy {
 public:
  /// `picks` is k; 0 when it is not known yet. REQUIRES: 1 <= depth <= kDeepest.
  PctStrategy(std::uint64_t depth, std::uint64_t picks) : UnfairStrategy(picks), depth_(depth) {
    FERMATA_ASSERT(depth >= 1);
    FERMATA_ASSERT(depth <= kDeepest);
  }

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

  [[nodiscard]] std::string plain_name() const override;
  void begin() override;
  std::size_t choose(const Candidates& candidates, std::uint64_t picked) override;
  [[nodiscard]] std::uint64_t priority(std::uint64_t path) const noexcept;

  std::uint64_t depth_;
  std::uint64_t salt_ = 0;
  std::vector<ChangePoint> change_points_;  // Ascending by pick; depth - 1 of them.
  std::size_t next_change_ = 0;
  std::vector<Lowered> lowered_;  // At most one entry for each path.
};

}  // namespace fermata::sim
