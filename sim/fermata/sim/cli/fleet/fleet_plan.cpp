// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/fleet/fuzz_process.hpp"
#include "fermata/sim/fleet/plan_end.hpp"
#include "fermata/sim/run/canary.hpp"

namespace fermata::sim::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kCanaryRuns = 250;
constexpr std::uint64_t kCanaryInputs = 2'000;
/// Chunks of a test in a plan that ends by time: more than can be done in any.
constexpr std::uint64_t kMostChunks = 1 << 16;

std::string path_of(const std::string& root) { return root + "/plan.json"; }

}  // namespace

FleetPlan::FleetPlan(Plan plan, Terms terms)
    : plan_(std::move(plan)),
      terms_(std::move(terms)),
      identity_(key_of(key_of(identity_of(plan_).dump()), nlohmann::json(terms_.seeds).dump())),
      chunks_of_a_test_(chunks_of_a_test()),
      size_(1 + plan_.tests.size() * chunks_of_a_test_) {
  FERMATA_ASSERT(terms_.lease > milliseconds(0));
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
  Terms terms{.lease = milliseconds(json.value("lease_ms", std::int64_t{0})),
              .names = json.value("names", ""),
              .seeds = json.value("seeds", Seeds())};
  if (json.contains("time_ms")) terms.time = milliseconds(json.value("time_ms", std::int64_t{0}));
  FleetPlan loaded(std::move(plan), std::move(terms));
  const std::string end = whole_file(root + '/' + fleet::PlanFolder::kEnd);
  if (const auto count = fleet::parse_end(end)) loaded.close(*count);
  return loaded;
}

void FleetPlan::save(const std::string& root) const {
  nlohmann::json json = json_of(plan_);
  json["lease_ms"] = terms_.lease.count();
  json["names"] = terms_.names;
  json["seeds"] = terms_.seeds;
  if (terms_.time) json["time_ms"] = terms_.time->count();
  json["wall_limit_ms"] = plan_.options.wall_limit.count();
  json["memory_limit"] = plan_.options.memory_limit;
  write_plan_file(path_of(root), std::move(json));
}

// A search that tries one schedule after another cannot begin in the middle.
std::uint64_t FleetPlan::chunks_of_a_test() const {
  const RunOptions& options = plan_.options;
  const bool is_in_order = options.strategy.starts_with("dfs");
  if (options.runs == kNoEnd && is_in_order) {
    throw UsageError(fmt::format("fleet plan: {} has no end but that of its runs: expected --runs",
                                 options.strategy));
  }
  if (options.runs == kNoEnd && !terms_.time) {
    throw UsageError("fleet plan: --runs is missing: expected how many runs each test gets");
  }
  if (is_in_order) return 1;
  if (options.runs == kNoEnd) return kMostChunks;
  std::uint64_t count = 0;
  while (cli::chunk(count, options.runs).runs > 0) ++count;
  return count;
}

bool FleetPlan::fuzzes() const { return plan_.options.strategy == kLibFuzzer; }

void FleetPlan::close(std::size_t count) {
  FERMATA_ASSERT(terms_.time.has_value());
  size_ = std::clamp(count, 1 + plan_.tests.size(), size_);
  is_closed_ = true;
}

bool FleetPlan::has_run(const std::string& test, std::uint64_t run) const {
  const auto place = std::find(plan_.tests.begin(), plan_.tests.end(), test);
  FERMATA_ASSERT(place != plan_.tests.end());
  const auto number = static_cast<std::size_t>(place - plan_.tests.begin());
  // Chunks of the test come at every tests.size() places, from number + 1 on.
  if (size_ <= number + 1) return false;
  const std::size_t last = (size_ - number - 2) / plan_.tests.size();
  return run < chunk(1 + last * plan_.tests.size() + number).range.end();
}

std::size_t FleetPlan::size() const noexcept { return size_; }

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
