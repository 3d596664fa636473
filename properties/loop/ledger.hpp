// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/sim/world/world.hpp"

namespace fermata::properties {

/// Plays the two sides of a connection, each a random program that sends, pauses, ends its side,
/// closes and destroys, with a ledger of every byte. What does not balance fails the world's run.
void keep_ledger(sim::World& world);

}  // namespace fermata::properties
