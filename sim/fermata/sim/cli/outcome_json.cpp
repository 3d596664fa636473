// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "fermata/sim/base/json.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/cli/outcome.hpp"

namespace fermata::sim::cli {
namespace {

Json start_line(const Plan& plan) {
  return {{"event", "start"},
          {"program", plan.program},
          {"build", plan.build},
          {"seed", seed_text(plan.options.seed)},
          {"strategy", plan.options.strategy},
          {"faults", plan.options.faults},
          {"shard", plan.options.shard.index + 1},
          {"shards", plan.options.shard.count},
          {"tests", plan.tests.size()}};
}

Json shares_of(const Counts& counts) {
  Json shares = Json::object();
  for (const auto& [strategy, share] : counts.shares) {
    shares[strategy] = {
        {"runs", share.runs}, {"new_runs", share.new_runs}, {"failures", share.failures}};
  }
  return shares;
}

Json test_line_of(const TestOutcome& test) {
  const Counts& counts = test.totals.counts();
  return {{"event", "test"},
          {"test", test.name},
          {"passed", test.totals.failures().empty()},
          {"skipped", test.totals.is_skipped()},
          {"skipped_runs", counts.skipped},
          {"skip_reason", test.totals.skip_reason()},
          {"exit_code", test.totals.exit_code()},
          {"remark", test.remark},
          {"runs", counts.runs},
          {"failures", counts.failures},
          {"limit_stops", counts.limit_stops},
          {"behaviours", test.totals.behaviours().kinds()},
          {"behaviours_once", test.totals.behaviours().once()},
          {"steps", counts.steps},
          {"steps_min", counts.steps_min},
          {"steps_max", counts.steps_max},
          {"draws", counts.draws},
          {"virtual_ns", counts.virtual_ns},
          {"determinism_checks", counts.determinism_checks},
          {"trace_hash", seed_text(test.totals.trace_hash())},
          {"faults", counts.faults},
          {"shares", shares_of(counts)}};
}

}  // namespace

std::string json_lines(RunOutcomes outcomes) {
  std::string text;
  std::chrono::milliseconds elapsed{};
  for (const RunOutcome& outcome : outcomes) {
    elapsed += outcome.elapsed;
    text += json_text(start_line(outcome.plan)) + '\n';
    for (const TestOutcome& test : outcome.tests) {
      for (const FailureRecord& failure : test.totals.failures()) {
        text += json_text(json_of(failure)) + '\n';
      }
      text += json_text(test_line_of(test)) + '\n';
    }
  }
  const Json end = {
      {"event", "end"}, {"exit_code", exit_code_of(outcomes)}, {"elapsed_ms", elapsed.count()}};
  return text + json_text(end) + '\n';
}

}  // namespace fermata::sim::cli
