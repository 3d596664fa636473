// SPDX-License-Identifier: Apache-2.0
#pragma once

// A run comes back from its tape, whether it failed or not.

#include <string>

#include "fermata/sim/run/explore.hpp"

namespace fermata::properties::suite {

/// Repeats `run`, which an exploration with `options` has checked, writes its tape, reads it again,
/// and replays its decisions strictly and by key. Returns what was different then; empty when
/// nothing was.
[[nodiscard]] std::string replay_difference(const sim::ExploreOptions& options,
                                            const sim::Program& program,
                                            const sim::CheckedRun& run);

}  // namespace fermata::properties::suite
