// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes inputs from inputs, knowing what they mean: what comes out answers draws that runs really
// make, and one stream is changed at a time.

#include <cstddef>
#include <span>

#include "fermata/sim/strategy/bytes.hpp"
#include "fermata/sim/tape/input.hpp"
#include "fermata/sim/tape/random.hpp"

namespace fermata::sim {

struct MutationLimits {
  /// How many answers an input may have.
  std::size_t answers = 0;
  /// Whether the run's seed counts for anything.
  bool seed = false;
};

/// Changes `input` in one place, seldom in up to four; one time in eight it becomes noise
/// everywhere. `asked` are draws that a run like it has made.
void mutate(FuzzInput& input, std::span<const AskedDraw> asked, const MutationLimits& limits,
            Random& random);

/// `one` with something that `other` says of one stream: its noise, or its answers beside those
/// that are there.
[[nodiscard]] FuzzInput cross_over(const FuzzInput& one, const FuzzInput& other,
                                   const MutationLimits& limits, Random& random);

}  // namespace fermata::sim
