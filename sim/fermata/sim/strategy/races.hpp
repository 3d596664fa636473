// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of one run, which of them had to come before which others, and which could have changed
// places: what a search that skips equivalent schedules learns from a run (P. Abdulla, S. Aronsson,
// B. Jonsson, K. Sagonas, "Optimal dynamic partial order reduction", POPL 2014, source sets).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

using Uses = std::vector<std::uint64_t>;

/// Whether two footprints, each ascending, have a thing in common that one of them wrote.
[[nodiscard]] bool in_conflict(std::span<const std::uint64_t> a,
                               std::span<const std::uint64_t> b) noexcept;

/// `uses` and `more` together.
void add_uses(Uses& uses, std::span<const std::uint64_t> more);

/// A step is everything that one coroutine did between two picks.
struct Step {
  static constexpr std::size_t kNoPick = ~std::size_t{0};

  std::uint64_t path = 0;
  Uses uses;
  bool everything = false;
  std::size_t pick = kNoPick;  // The one that chose it; none when there was no choice.
};

[[nodiscard]] bool dependent(const Step& a, const Step& b) noexcept;

class Races {
 public:
  /// `steps` must outlive this.
  explicit Races(std::span<const Step> steps);

  /// Calls `race(i, j)` for each two steps of different coroutines, i before j, that depend on each
  /// other with nothing between them.
  template <class F>
  void for_each(F race) const {
    for (std::size_t j = 0; j < steps_.size(); ++j) {
      for (const std::size_t i : neighbours_[j]) {
        if (steps_[i].path != steps_[j].path) race(i, j);
      }
    }
  }

  /// The coroutines one of which has to run instead of step `i` so that `j` comes before it: those
  /// that could begin what came up to `j` and not because of `i`. Empty when it is `i` that made it
  /// possible for `j` to run, given who `could_run` where `i` was chosen.
  [[nodiscard]] std::vector<std::uint64_t> initials(std::size_t i, std::size_t j,
                                                    std::span<const std::uint64_t> could_run) const;

 private:
  [[nodiscard]] bool before(std::size_t i, std::size_t j) const noexcept {
    return (order_[j * words_ + i / 64] >> (i % 64) & 1) != 0;
  }

  std::span<const Step> steps_;
  std::size_t words_;                                 // Of a row.
  std::vector<std::uint64_t> order_;                  // A row of bits for each step.
  std::vector<std::vector<std::size_t>> neighbours_;  // Those directly before each step.
};

}  // namespace fermata::sim
