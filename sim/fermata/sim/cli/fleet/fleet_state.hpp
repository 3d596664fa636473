// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a plan is, from what its workers have left in its folder.

#include <cstdint>
#include <string>
#include <vector>

#include "fermata/sim/cli/fleet/fleet_commands.hpp"
#include "fermata/sim/cli/fleet/fleet_result.hpp"
#include "fermata/sim/fleet/worker_status.hpp"

namespace fermata::sim::cli {

struct FleetState {
  std::string root;
  FleetOutcome outcome;
  std::size_t leased = 0;  // Chunks that somebody has a lease of.
  std::vector<fleet::WorkerStatus> workers;

  [[nodiscard]] std::size_t alive() const;
  [[nodiscard]] std::uint64_t runs() const;
  [[nodiscard]] fleet::WorkerStatus sums() const;
};

/// Suspends. Throws UsageError when there is no plan in the folder `root`.
[[nodiscard]] FleetState state_of_fleet(const std::string& root);

/// For people: a line for the plan, for its workers, and for each finding.
[[nodiscard]] std::string text_of(const FleetState& state);
/// One JSON object and a newline.
[[nodiscard]] std::string json_of(const FleetState& state);

}  // namespace fermata::sim::cli
