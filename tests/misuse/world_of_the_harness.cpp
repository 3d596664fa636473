// SPDX-License-Identifier: Apache-2.0
// expects: no member named

#include <fermata/sim.hpp>

void forget_assertions(fermata::sim::World& world) { world.set_assertion_counts({}); }
