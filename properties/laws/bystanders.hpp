// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutines that have nothing to do with each other: each suspends, sleeps, computes, spawns and
// waits on its own, and has a result that plain arithmetic knows. Whatever the schedule, the
// results are the same (CORE-GL-12); and a workload hides among them what it is about.

#include <functional>

#include "fermata/sim/world/world.hpp"
#include "properties/laws/law.hpp"

namespace fermata::properties {

/// Plays `body` among 3 to 10 of them.
[[nodiscard]] rc::Gen<Scenario> among_bystanders(std::function<void(sim::World&)> body);

}  // namespace fermata::properties
