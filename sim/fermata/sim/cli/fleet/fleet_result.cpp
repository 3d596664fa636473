// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/sim/cli/fleet/chunk_result.hpp"
#include "fermata/sim/cli/fleet/fleet_shrinks.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/fleet/plan_folder.hpp"

namespace fermata::sim::cli {
namespace {

namespace files = std::filesystem;

/// The result in the file `path`; nothing when there is none.
std::optional<ChunkResult> result_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    return ChunkResult::parse(text);
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}: {}; remove it and let a worker do the chunk again", path, error.what()));
  }
}

/// The failure that other bytes of the same chunk are.
ReplayResult conflict_of(const FleetChunk& chunk, fleet::ChunkId id, const std::string& other) {
  FailureRecord failure;
  failure.test = chunk.test;
  failure.failure_class = "nondeterminism";
  failure.message = fmt::format("two workers got different results for the runs {} to {}",
                                chunk.range.first + 1, chunk.range.end());
  failure.signature = "nondeterminism across machines";
  failure.run = failure.first_run = chunk.range.first;
  const std::string kept = fleet::PlanFolder("").result(id).substr(1);
  failure.report = fmt::format(
      "nondeterminism: {}\n  one result    {}\n  the other     {}\n  signature     {}\n",
      failure.message, kept, other, failure.signature);
  ReplayResult result;
  result.tape = other;
  result.failures.push_back(std::move(failure));
  return result;
}

/// The other results of chunks, from the folder of the plan.
std::multimap<std::string, std::string> conflicts_in(const fleet::PlanFolder& folder) {
  std::multimap<std::string, std::string> conflicts;  // By the chunk.
  std::error_code error;
  for (const auto& entry : files::directory_iterator(folder.conflicts(), error)) {
    const std::string name = entry.path().filename().string();
    conflicts.emplace(name.substr(0, name.find('.')), "conflicts/" + name);
  }
  return conflicts;
}

/// What all tests have seen together; the canary has few runs.
Growth growth_of(const std::map<std::string, TestTotals>& totals) {
  Growth growth;
  for (const auto& [test, own] : totals) {
    growth.runs += own.counts().runs;
    growth.kinds += own.behaviours().kinds();
  }
  return growth;
}

/// Adds what the chunks that make failures smaller have found.
void add_shrunk(const FleetPlan& plan, const fleet::PlanFolder& folder, TestTotals& totals,
                FleetOutcome& outcome) {
  const std::vector<FailureRecord> failures = totals.failures();
  for (const FailureRecord& failure : failures) {
    if (!wants_shrinking(failure, plan)) continue;
    ++outcome.chunks;
    const auto result = result_in(folder.result(shrink_id(plan, failure)));
    if (!result) continue;
    ++outcome.done;
    for (const FailureRecord& small : parse_events(result->parts.at(0)).failures)
      totals.complete(small);
  }
}

}  // namespace

int FleetOutcome::exit_code() const {
  const bool is_missed = canary_done && !canary_found;
  return heavier(run.exit_code(), is_missed ? exit_code_of("obligation") : kPass);
}

bool is_canary_found(const std::vector<FailureRecord>& failures) {
  return std::any_of(failures.begin(), failures.end(), [](const FailureRecord& failure) {
    return failure.failure_class == "safety" &&
           failure.message.find("the canary") != std::string::npos;
  });
}

FleetOutcome merged_fleet(const FleetPlan& plan, const std::string& root) {
  const fleet::PlanFolder folder(root);
  FleetOutcome outcome;
  outcome.run.plan = plan.exploration();
  outcome.chunks = plan.size();
  std::map<std::string, TestTotals> totals;
  const std::multimap<std::string, std::string> conflicts = conflicts_in(folder);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const FleetChunk chunk = plan.chunk(i);
    const fleet::ChunkId id = plan.id(i);
    const std::optional<ChunkResult> result = result_in(folder.result(id));
    if (!result) continue;
    ++outcome.done;
    TestTotals& own = totals.try_emplace(chunk.test, true).first->second;
    for (RangeResult& range : result->ranges()) own.add(std::move(range));
    auto [other, end] = conflicts.equal_range(id.text());
    for (; other != end; ++other) own.add(conflict_of(chunk, id, other->second));
    if (!chunk.is_canary) {
      outcome.growth.push_back(growth_of(totals));
      continue;
    }
    outcome.canary_done = true;
    outcome.canary_found = is_canary_found(own.failures());
  }
  const bool is_explored = outcome.is_complete();
  for (const std::string& test : plan.exploration().tests) {
    TestTotals& own = totals.try_emplace(test, true).first->second;
    if (is_explored) add_shrunk(plan, folder, own, outcome);
    const std::string remark = own.coverage();
    outcome.run.tests.push_back({test, std::move(own), remark});
  }
  return outcome;
}

}  // namespace fermata::sim::cli
