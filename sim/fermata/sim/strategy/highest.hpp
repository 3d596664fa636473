// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

/// The index of the candidate for whose path `priority` gives most; of equal ones the first.
template <class Priority>
[[nodiscard]] std::size_t highest(const Candidates& candidates, Priority priority) {
  FERMATA_ASSERT(candidates.size() > 0);
  std::size_t best = 0;
  std::uint64_t best_priority = priority(candidates.path(0));
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const std::uint64_t other = priority(candidates.path(i));
    if (other > best_priority) {
      best = i;
      best_priority = other;
    }
  }
  return best;
}

}  // namespace fermata::sim
