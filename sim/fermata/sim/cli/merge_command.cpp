// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/cli/commands.hpp"
#include "fermata/sim/cli/outcome.hpp"
#include "fermata/sim/cli/result_folder.hpp"

namespace fermata::sim::cli {
namespace {

using Folders = std::vector<std::unique_ptr<ResultFolder>>;

/// The plan that all folders are shards of. Throws UsageError when they are not, one is missing or
/// not done.
Plan common_plan(const Folders& folders) {
  const Plan plan = folders.front()->plan();
  std::vector<const ResultFolder*> shards(plan.options.shard.count);
  for (const auto& folder : folders) {
    ResultFolder::State state = ResultFolder::State::Complete;
    const Plan other = folder->plan(&state);
    const Shard& shard = other.options.shard;
    if (!plan.same_exploration(other) || shard.count != shards.size()) {
      throw UsageError(fmt::format(
          "{} and {} are of different explorations: program, tests, seed, runs, strategy, faults, "
          "limits and number of shards have to be the same",
          folders.front()->path(), folder->path()));
    }
    if (state != ResultFolder::State::Complete) {
      throw UsageError(
          fmt::format("{} was interrupted; go on with it first (--resume)", folder->path()));
    }
    if (shards[shard.index] != nullptr) {
      throw UsageError(fmt::format("{} and {} are both shard {}/{}", shards[shard.index]->path(),
                                   folder->path(), shard.index + 1, shard.count));
    }
    shards[shard.index] = folder.get();
  }
  const auto missing = std::find(shards.begin(), shards.end(), nullptr);
  if (missing != shards.end()) {
    throw UsageError(
        fmt::format("shard {}/{} is missing", missing - shards.begin() + 1, shards.size()));
  }
  return plan;
}

TestOutcome merged(const std::string& test, const Plan& plan, const Folders& folders) {
  std::vector<RangeResult> ranges;
  std::vector<ReplayResult> replays;
  for (const auto& folder : folders) {
    for (RangeResult& record : folder->ranges(test)) ranges.push_back(std::move(record));
    for (ReplayResult& record : folder->replays(test)) replays.push_back(std::move(record));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.first_run < b.first_run; });
  std::sort(replays.begin(), replays.end(),
            [](const auto& a, const auto& b) { return a.tape < b.tape; });
  TestOutcome outcome{test, TestTotals(plan.options.keep_going), {}};
  for (ReplayResult& replay : replays) outcome.totals.add(std::move(replay));
  for (RangeResult& range : ranges) {
    if (!outcome.totals.is_closed()) outcome.totals.add(std::move(range));
  }
  for (const auto& folder : folders) {
    const Plan own = folder->plan();
    const auto spent = own.spent.find(test);
    if (spent != own.spent.end()) outcome.spent += spent->second;
  }
  outcome.remark = outcome.totals.coverage();
  return outcome;
}

}  // namespace

int merge_command(const Arguments& arguments) {
  check_reports(arguments.value("FERMATA_JSON"), arguments.value("FERMATA_JUNIT"));
  Folders folders;
  for (const std::string& path : arguments.operands) {
    folders.push_back(std::make_unique<ResultFolder>(path));
  }
  RunOutcome outcome{.plan = common_plan(folders), .interrupted = false};
  outcome.plan.options.shard = {};
  fmt::print("sim: seed={} strategy={} tests={} merged from {} shards\n",
             seed_text(outcome.plan.options.seed), outcome.plan.options.strategy,
             outcome.plan.tests.size(), folders.size());
  for (const std::string& test : outcome.plan.tests) {
    outcome.tests.push_back(merged(test, outcome.plan, folders));
    fmt::print("{}{}\n", failure_text(outcome.tests.back()), test_line(outcome.tests.back()));
  }
  const RunOutcomes all(&outcome, 1);
  fmt::print("{}", statistics_text(all));
  write_reports(all, arguments.value("FERMATA_JSON"), arguments.value("FERMATA_JUNIT"));
  return outcome.exit_code();
}

}  // namespace fermata::sim::cli
