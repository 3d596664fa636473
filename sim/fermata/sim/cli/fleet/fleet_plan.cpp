// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_plan.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/cli/fleet/fuzz_process.hpp"
#include "fermata/sim/run/canary.hpp"

namespace fermata::sim::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kCanaryRuns = 250;
constexpr std::uint64_t kCanaryInputs = 2'000;

std::string path_of(const std::string& root) { return root + "/plan.json"; }

}  // namespace

FleetPlan::FleetPlan(Plan plan, milliseconds lease, std::string names, Seeds seeds)
    : plan_(std::move(plan)),
      lease_(lease),
      names_(std::move(names)),
      seeds_(std::move(seeds)),
      identity_(key_of(key_of(identity_of(plan_).dump()), nlohmann::json(seeds_).dump())),
      chunks_of_a_test_(chunks_of_a_test()) {
  FERMATA_ASSERT(lease > milliseconds(0));
  FERMATA_ASSERT(!plan_.tests.empty());
}

FleetPlan FleetPlan::load(const std::string& root) {
  const nlohmann::json json = read_plan_file(path_of(root), "the folder of a `fermata fleet plan`");
  if (!json.contains("lease_ms")) {
    throw UsageError(path_of(root) +
                     " is not the plan of a fleet: expected one that `fermata "
                     "fleet plan` has written");
  }
  Plan plan = plan_of(json);
  plan.options.wall_limit = milliseconds(json.value("wall_limit_ms", std::int64_t{0}));
  plan.options.memory_limit = json.value("memory_limit", std::uint64_t{0});
  return {std::move(plan), milliseconds(json.value("lease_ms", std::int64_t{0})),
          json.value("names", ""), json.value("seeds", Seeds())};
}

void FleetPlan::save(const std::string& root) const {
  nlohmann::json json = json_of(plan_);
  json["lease_ms"] = lease_.count();
  json["names"] = names_;
  json["seeds"] = seeds_;
  json["wall_limit_ms"] = plan_.options.wall_limit.count();
  json["memory_limit"] = plan_.options.memory_limit;
  write_plan_file(path_of(root), std::move(json));
}

// A search that tries one schedule after another cannot begin in the middle.
std::uint64_t FleetPlan::chunks_of_a_test() const {
  const RunOptions& options = plan_.options;
  if (options.runs == kNoEnd) {
    throw UsageError("fleet plan: --runs is missing: expected how many runs each test gets");
  }
  if (options.strategy.starts_with("dfs")) return 1;
  std::uint64_t count = 0;
  while (cli::chunk(count, options.runs).runs > 0) ++count;
  return count;
}

bool FleetPlan::fuzzes() const { return plan_.options.strategy == kLibFuzzer; }

std::size_t FleetPlan::size() const noexcept { return 1 + plan_.tests.size() * chunks_of_a_test_; }

FleetChunk FleetPlan::chunk(std::size_t index) const {
  FERMATA_ASSERT(index < size());
  if (index == 0) return {kCanaryTest, 0, {0, fuzzes() ? kCanaryInputs : kCanaryRuns}, true};
  const std::uint64_t number = (index - 1) / plan_.tests.size();
  const std::string& test = plan_.tests[(index - 1) % plan_.tests.size()];
  const bool is_whole = chunks_of_a_test_ == 1;
  return {test, number,
          is_whole ? RunRange{0, plan_.options.runs} : cli::chunk(number, plan_.options.runs),
          false};
}

fleet::ChunkId FleetPlan::id(std::size_t index) const {
  FERMATA_ASSERT(index < size());
  return {key_of(identity_, index)};
}

bool FleetPlan::is_same(const FleetPlan& other) const {
  return identity_ == other.identity_ && size() == other.size();
}

}  // namespace fermata::sim::cli
