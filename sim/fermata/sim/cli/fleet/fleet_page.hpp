// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fermata/sim/cli/fleet/fleet_state.hpp"

namespace fermata::sim::cli {

/// A page of HTML for people: progress, findings, workers, cost. It has no scripts, loads nothing,
/// and reloads itself every few seconds until the plan is complete.
[[nodiscard]] std::string page_of(const FleetState& state);

}  // namespace fermata::sim::cli
