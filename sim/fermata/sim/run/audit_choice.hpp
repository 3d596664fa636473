// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which runs of a search are audited after each step, and not by samples: the first ones, a share
// of the others by their seeds, and those that do something new when most do not.

#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/run/distinct_runs.hpp"

namespace fermata::sim {

class AuditChoice {
 public:
  /// A search shows most of what is new to it in its first runs.
  static constexpr std::uint64_t kFirstRuns = 64;
  /// One in so many of the later runs.
  static constexpr std::uint64_t kShare = 8;
  /// Something new is news while fewer than one in so many runs are expected to show it.
  static constexpr std::uint64_t kRare = 16;

  /// Whether the run of `seed`, before which there were `runs`, may be audited by samples.
  [[nodiscard]] static constexpr bool may_sample(std::uint64_t runs, std::uint64_t seed) noexcept {
    return runs >= kFirstRuns && key_of(seed, kPurpose) % kShare != 0;
  }

  /// Whether a new behaviour is unusual after `runs` that came to `behaviours`. By Good and
  /// Turing's rule the next run shows a new one as often as runs have shown one that was seen once.
  [[nodiscard]] static bool is_news(const DistinctRuns& behaviours, std::uint64_t runs) noexcept {
    FERMATA_ASSERT(behaviours.once() <= behaviours.kinds());
    return behaviours.once() * kRare < runs;
  }

 private:
  static constexpr std::uint64_t kPurpose = key_of("audit");
};

}  // namespace fermata::sim
