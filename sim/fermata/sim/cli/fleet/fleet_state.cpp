// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/json.hpp"

namespace fermata::sim::cli {
namespace {

/// A worker that has not told anything of itself for so many leases is not alive.
constexpr int kSilentLeases = 3;

std::size_t leased_chunks(const fleet::PlanFolder& folder) {
  std::set<std::string> chunks;
  for (const DirectoryEntry& entry : fs::list_directory(folder.leases())) {
    chunks.insert(entry.name.substr(0, entry.name.find('.')));
  }
  return chunks.size();
}

/// The state of a worker that was killed stays "works": it was told too long ago then.
void note_silence(std::vector<fleet::WorkerStatus>& workers, Duration lease) {
  WallTime newest;
  for (const fleet::WorkerStatus& worker : workers)
    newest.nanoseconds = std::max(newest.nanoseconds, worker.told.nanoseconds);
  newest.nanoseconds = std::max(newest.nanoseconds, wall_clock().nanoseconds);
  for (fleet::WorkerStatus& worker : workers) {
    const bool runs = worker.state == "works" || worker.state == "waits";
    const Duration silence(newest.nanoseconds - worker.told.nanoseconds);
    if (runs && silence > kSilentLeases * lease) worker.state = "silent";
  }
}

}  // namespace

std::size_t FleetState::alive() const {
  return static_cast<std::size_t>(std::count_if(workers.begin(), workers.end(), [](const auto& w) {
    return w.state == "works" || w.state == "waits";
  }));
}

std::uint64_t FleetState::runs() const {
  std::uint64_t runs = 0;
  for (const TestOutcome& test : outcome.run.tests) runs += test.totals.counts().runs;
  return runs;
}

fleet::WorkerStatus FleetState::sums() const {
  fleet::WorkerStatus sums;
  for (const fleet::WorkerStatus& worker : workers) {
    sums.done += worker.done;
    sums.twice += worker.twice;
    sums.different += worker.different;
    sums.stolen += worker.stolen;
    sums.lost += worker.lost;
    sums.busy += worker.busy;
  }
  return sums;
}

FleetState state_of_fleet(const std::string& root) {
  const FleetPlan plan = FleetPlan::load(root);
  FERMATA_ASSERT(!root.empty());
  FleetState state;
  state.root = root;
  state.outcome = merged_fleet(plan, root);
  const fleet::PlanFolder folder(root);
  state.leased = leased_chunks(folder);
  state.workers = fleet::workers_of(folder);
  note_silence(state.workers, plan.lease());
  return state;
}

std::string text_of(const FleetState& state) {
  const FleetOutcome& outcome = state.outcome;
  const fleet::WorkerStatus sums = state.sums();
  std::string text = fmt::format("plan {}: {}, {} leased, {}\n", state.root, outcome.progress(),
                                 state.leased, counted(state.runs(), "run"));
  text += fmt::format("workers: {} alive of {}; {} stolen, {} done twice, {} with other bytes\n",
                      state.alive(), state.workers.size(), counted(sums.stolen, "chunk"),
                      sums.twice, sums.different);
  text += fmt::format("cost: {:.3f} core-hours\n",
                      std::chrono::duration<double, std::ratio<3600>>(sums.busy).count());
  const char* const canary = !outcome.canary_done   ? "not run yet"
                             : outcome.canary_found ? "found"
                                                    : "MISSED: what these workers find is not all";
  text += fmt::format("canary: {}\n", canary);
  for (const TestOutcome& test : outcome.run.tests) {
    for (const FailureRecord& failure : test.totals.failures()) {
      text += fmt::format("finding: {}: {}\n", failure.test, failure.signature);
    }
  }
  return text;
}

std::string json_of(const FleetState& state) {
  const FleetOutcome& outcome = state.outcome;
  Json tests = Json::array();
  Json findings = Json::array();
  for (const TestOutcome& test : outcome.run.tests) {
    const TestTotals& totals = test.totals;
    tests.push_back({{"test", test.name},
                     {"runs", totals.counts().runs},
                     {"failures", totals.counts().failures},
                     {"behaviours", totals.behaviours().kinds()},
                     {"behaviours_once", totals.behaviours().once()}});
    for (const FailureRecord& failure : totals.failures()) findings.push_back(json_of(failure));
  }
  Json workers = Json::array();
  for (const fleet::WorkerStatus& worker : state.workers) {
    workers.push_back(Json::parse(worker.json()));
  }
  return json_text({{"plan", state.root},
                    {"chunks", outcome.chunks},
                    {"done", outcome.done},
                    {"leased", state.leased},
                    {"canary_done", outcome.canary_done},
                    {"canary_found", outcome.canary_found},
                    {"tests", tests},
                    {"findings", findings},
                    {"workers", workers}}) +
         '\n';
}

}  // namespace fermata::sim::cli
