// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small programs of the kind that users write, right ones; each is the main coroutine of a node.

#include "fermata/sim/world/world.hpp"

namespace fermata::properties::suite {

/// Two deposits that look at the balance again after they have waited.
void account(sim::World& world);

/// A producer and a consumer with a box for one item between them.
void handover(sim::World& world);

/// The echo server of the examples, its clients, and a network that breaks things.
void echo_under_faults(sim::World& world);

}  // namespace fermata::properties::suite
