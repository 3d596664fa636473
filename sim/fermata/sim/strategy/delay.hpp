// SPDX-License-Identifier: Apache-2.0
#pragma once

// Delay bounding: M. Emmi, S. Qadeer, Z. Rakamaric, "Delay-bounded scheduling", POPL 2011. The
// order is production's, but up to D times in a run whoever is next has to wait until all others
// that could run by then have run. Most bugs need one or two such delays, and few schedules have so
// few: one of D delays among k picks is hit with a probability of at least D! / k^D. What needs one
// delay more is missed.
//
// Departure  The delays are drawn, uniformly over as many picks as the longest run so far has had,
//            instead of being enumerated: dfs:N does that. name() carries that number.

#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/strategy/run_length.hpp"
#include "fermata/sim/strategy/seeded.hpp"

namespace fermata::sim {

class DelayStrategy final : public SeededStrategy {
 public:
  /// `picks` is the length of the longest run so far; 0 when it is not known yet. REQUIRES: 1 <=
  /// delays <= kMost.
  DelayStrategy(std::uint64_t delays, std::uint64_t picks) : delays_(delays), length_(picks) {
    FERMATA_ASSERT(delays >= 1);
    FERMATA_ASSERT(delays <= kMost);
  }

  void begin_run(std::uint64_t seed) override;
  std::size_t pick(const Candidates& candidates) override;

  static constexpr std::uint64_t kMost = 64;

 private:
  struct Delayed {
    std::uint64_t path;
    std::size_t behind;  // How many of those that were there before it have not run yet.
  };

  [[nodiscard]] std::string order_name() const override;
  void learn(const RunSummary& run) override { length_.learn(run); }
  [[nodiscard]] std::size_t next(const Candidates& candidates) const noexcept;
  [[nodiscard]] bool is_delayed(std::uint64_t path) const noexcept;

  std::uint64_t delays_;
  RunLength length_;
  std::uint64_t picked_ = 0;
  std::vector<std::uint64_t> points_;  // Picks at which somebody is delayed; descending.
  std::vector<Delayed> delayed_;
};

}  // namespace fermata::sim
