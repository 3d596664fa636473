// SPDX-License-Identifier: Apache-2.0
#pragma once

// From the options of a process to those of the world of one run.

#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/tape/tape.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::sim::detail {

/// The options of a run's world from the options of the process.
[[nodiscard]] WorldOptions world_options(const Options& options);
/// Options of the world for a run on a tape, which has the limits and the faults of its own run.
[[nodiscard]] WorldOptions world_options(const Options& options, const Tape& tape);

}  // namespace fermata::sim::detail
