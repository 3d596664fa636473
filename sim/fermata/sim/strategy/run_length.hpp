// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many picks a run has, as far as earlier ones tell.

#include <algorithm>
#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

class RunLength {
 public:
  /// `longest` is 0 when nothing is known yet.
  explicit RunLength(std::uint64_t longest) noexcept : longest_(longest) {}

  [[nodiscard]] bool is_known() const noexcept { return longest_ != 0; }
  /// Picks of the longest run so far; a guess before the first one.
  [[nodiscard]] std::uint64_t picks() const noexcept { return is_known() ? longest_ : kFirstGuess; }
  [[nodiscard]] std::uint64_t longest() const noexcept { return longest_; }

  /// After so many picks a run is longer than can be explained otherwise: somebody waits in a loop
  /// for others that are not let run.
  [[nodiscard]] std::uint64_t suspicious() const noexcept { return 4 * picks() + 1'000; }

  void learn(const RunSummary& run) noexcept { learn(run.picks); }
  /// Learns from a run in which everybody could run after suspicious() picks: what came then counts
  /// as a run of its own.
  void learn_with_suffix(const RunSummary& run) noexcept {
    const std::uint64_t limit = suspicious();
    learn(run.picks > limit ? run.picks - limit : run.picks);
  }

 private:
  void learn(std::uint64_t picks) noexcept {
    longest_ = std::max({longest_, picks, std::uint64_t{1}});
    FERMATA_ASSERT(is_known());
  }

  static constexpr std::uint64_t kFirstGuess = 100;

  std::uint64_t longest_;
};

}  // namespace fermata::sim
