// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shrinking is a chunk as any other, done once: of the failures of one signature in one test, the
// one of fewest steps is made small, when every chunk that explores is done.

#include <functional>
#include <string>
#include <vector>

#include "fermata/sim/cli/fleet/fleet_plan.hpp"
#include "fermata/sim/fleet/publisher.hpp"

namespace fermata::sim::cli {

/// The name of the chunk that makes `failure` small.
[[nodiscard]] fleet::ChunkId shrink_id(const FleetPlan& plan, const FailureRecord& failure);

/// Whether such a chunk is wanted: not of a failure that no tape or run shows again.
[[nodiscard]] bool wants_shrinking(const FailureRecord& failure, const FleetPlan& plan);

/// Writes down that `failure` was found. Suspends.
void publish_record(const FailureRecord& failure, const fleet::PlanFolder& folder,
                    fleet::Publisher& publisher);

/// The failure of fewest steps of each signature in each test, in the order of their names; of runs
/// that the plan has. Suspends.
[[nodiscard]] std::vector<FailureRecord> best_failures(const fleet::PlanFolder& folder,
                                                       const FleetPlan& plan);

/// The failure with what shrinking has found out, for a tape in the folder of the plan; from the
/// process `binary`, with files in the current folder. Throws Error when that process cannot do
/// what it was asked.
[[nodiscard]] FailureRecord shrunk(const FailureRecord& failure, const FleetPlan& plan,
                                   const TestBinary& binary, const std::string& root,
                                   const std::function<void()>& waiting);

}  // namespace fermata::sim::cli
