// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rings in a wait-for graph: breadth first, so that each is as short as can be; those that the
// objects themselves vouch for before those that are only likely; each coroutine in one ring.

#include <cstddef>
#include <vector>

#include "fermata/sim/waits/wait_graph.hpp"

namespace fermata::sim::detail {

/// A step of a ring: `coroutine` waits for the first of `objects`, each of which needs the next,
/// and the last is in the hands of the coroutine of the next step.
struct RingStep {
  std::size_t coroutine = 0;
  std::vector<std::size_t> objects;
  WaitGraph::Hold hold;
};

[[nodiscard]] std::vector<std::vector<RingStep>> find_rings(const WaitGraph& graph);

}  // namespace fermata::sim::detail
