// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fermata/sim/run/explore.hpp"

namespace fermata::sim {

/// Adds the run number `run`, which was in `world`, to what the runs before it came to: to the
/// numbers of runs, steps, draws, faults and behaviours. What failed is the caller's.
void add_run(ExploreResult& sums, const RunResult& one, std::uint64_t run, const World& world);

}  // namespace fermata::sim
