// SPDX-License-Identifier: Apache-2.0
#pragma once

// The suite in processes of their own: two that explore a half of the entries each, so that two
// cores have something to do. How many there are never depends on the machine: the same schedules
// are explored everywhere.

#include "properties/suite/exploration.hpp"

namespace fermata::properties::suite {

/// Explores all that was chosen, and prints what it came to. Returns what the process is to end
/// with: when a share fails the other one is ended. Throws InputOutputError when there is no
/// process to be had, UsageError when there is no such entry.
[[nodiscard]] int explore_in_shares(const Choice& choice);

}  // namespace fermata::properties::suite
