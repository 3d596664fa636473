// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rings in a wait-for graph: breadth first, so that each is as short as can be; those that the
// objects themselves vouch for before those that are only likely; each coroutine in one ring.

#include <vector>

#include "fermata/sim/waits/deadlock.hpp"

namespace fermata::sim::detail {

[[nodiscard]] std::vector<std::vector<RingStep>> find_rings(const WaitGraph& graph);

}  // namespace fermata::sim::detail
