// SPDX-License-Identifier: Apache-2.0
#pragma once

// One run of a row that measures simulation, audited as a search audits most runs, or step by step.

#include <cstdint>

#include "fermata/sim/run/audit_choice.hpp"
#include "fermata/sim/run/runner.hpp"

namespace bench {

using RunOnce = fermata::sim::RunResult (*)(fermata::sim::Runner& runner, std::uint64_t seed);

/// The run of a search whose first runs are over.
inline fermata::sim::RunResult run_in_search(fermata::sim::Runner& runner, std::uint64_t seed) {
  using Choice = fermata::sim::AuditChoice;
  return Choice::may_sample(Choice::kFirstRuns, seed) ? runner.run_sampled(seed) : runner.run(seed);
}

/// With each step audited.
inline fermata::sim::RunResult run_touched(fermata::sim::Runner& runner, std::uint64_t seed) {
  return runner.run(seed);
}

}  // namespace bench
