// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who in a wait-for graph can never go on, whatever those do who still run: the headline of a run
// that a limit has ended.
//
// Sure   The greatest set that holds itself up: each waits for nothing but the end of some of them,
//        what some of them hold, or what nobody can complete or fire any more. What anybody might
//        do is never held against the program: permits, notifies, values, the far end of a
//        connection. Nor is what only a log tells, so that a run which is recorded gets the
//        same headline. A cancellation by somebody who has a handle is left out of account: by the
//        time a limit ends a run it has not come.

#include <cstddef>
#include <vector>

#include "fermata/sim/waits/wait_graph.hpp"

namespace fermata::sim::detail {

/// Indices of coroutines, ascending.
[[nodiscard]] std::vector<std::size_t> find_hopeless(const WaitGraph& graph);

}  // namespace fermata::sim::detail
