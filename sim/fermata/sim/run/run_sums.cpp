// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/run_sums.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/key.hpp"

namespace fermata::sim {
namespace {

void note_long_run(ExploreResult& sums, LongRun long_run) {
  auto place = std::find_if(sums.longest.begin(), sums.longest.end(),
                            [&](const LongRun& other) { return long_run.steps > other.steps; });
  std::move_backward(place, sums.longest.end() - 1, sums.longest.end());
  *place = long_run;
  FERMATA_ASSERT(sums.longest.front().steps >= long_run.steps);
}

}  // namespace

void add_run(ExploreResult& sums, const RunResult& one, std::uint64_t run, const World& world) {
  if (sums.runs == 0) sums.first_world = world.faults();
  sums.steps_min = sums.runs == 0 ? one.steps : std::min(sums.steps_min, one.steps);
  sums.steps_max = std::max(sums.steps_max, one.steps);
  FERMATA_ASSERT(sums.steps_min <= sums.steps_max);
  if (one.steps > sums.longest.back().steps) note_long_run(sums, {run, one.steps});
  ++sums.runs;
  sums.steps += one.steps;
  sums.draws += one.draws;
  sums.virtual_time += one.end - Instant{};
  sums.trace_hash = key_of(sums.trace_hash, one.trace_hash);
  if (one.skipped) {
    if (sums.skipped++ == 0) {
      sums.skip_reason = one.skipped->empty() ? "without a reason" : *one.skipped;
    }
  } else {
    sums.behaviours.add(one.trace_hash);
  }
  FERMATA_ASSERT(sums.skipped <= sums.runs);
  sums.distinct_runs = sums.behaviours.kinds();
  const FaultCounts& faults = world.fault_counts();
  for (std::size_t i = 0; i < faults.size(); ++i) sums.fault_counts[i] += faults[i];
}

}  // namespace fermata::sim
