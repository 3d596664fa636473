// SPDX-License-Identifier: Apache-2.0
#pragma once

// What all results of a plan come to together. Merging is a union: it does not matter who did which
// chunk, when, and how often.

#include <string>
#include <vector>

#include "fermata/sim/cli/fleet/fleet_plan.hpp"
#include "fermata/sim/cli/outcome.hpp"

namespace fermata::sim::cli {

/// How many behaviours were seen in the first runs of a plan.
struct Growth {
  std::uint64_t runs = 0;
  std::uint64_t kinds = 0;
};

struct FleetOutcome {
  RunOutcome run;
  std::size_t chunks = 0;
  std::size_t done = 0;
  /// The plan's time is not over: there are more chunks than that.
  bool is_open = false;
  /// Whether the chunk of the canary is done, and has found it.
  bool canary_done = false;
  bool canary_found = false;
  /// The names of the inputs that fuzzing has left, by test; empty before it is done.
  FleetPlan::Seeds corpora;
  std::vector<Growth> growth;  // After each chunk, in the order of the plan.

  [[nodiscard]] bool is_complete() const noexcept { return done == chunks && !is_open; }
  /// "6 of 8 chunks done".
  [[nodiscard]] std::string progress() const;
  /// Why it is not complete: "2 of 8 chunks have no result yet".
  [[nodiscard]] std::string missing() const;
  /// The exit code of the most severe verdict, or that of a canary that was missed.
  [[nodiscard]] int exit_code() const;
};

/// Whether the failures of the canary's chunk are what its planted bug gives.
[[nodiscard]] bool is_canary_found(const std::vector<FailureRecord>& failures);

/// Merges what there is in the folder `root` of `plan`. Throws Error when a result is damaged.
[[nodiscard]] FleetOutcome merged_fleet(const FleetPlan& plan, const std::string& root);

}  // namespace fermata::sim::cli
