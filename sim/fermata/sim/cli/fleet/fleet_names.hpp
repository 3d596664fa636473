// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who looks up the functions of the stacks in reports: addr2line, which each machine has itself. A
// chunk comes to the same bytes everywhere only where it is the same one.

#include <string>

#include "fermata/sim/cli/fleet/fleet_plan.hpp"
#include "fermata/sim/cli/run_options.hpp"

namespace fermata::sim::cli {

/// The version of this machine's addr2line, in its own words; empty when `options` want no names.
/// Throws UsageError when there is none.
[[nodiscard]] std::string names_for_plan(const RunOptions& options);

/// Throws UsageError unless this machine looks names up as `plan` says.
void require_names(const FleetPlan& plan);

}  // namespace fermata::sim::cli
