// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "fermata/sim/cli/outcome.hpp"
#include "fermata/sim/run/json_line.hpp"
#include "fermata/sim/run/seed.hpp"

namespace fermata::sim::cli {
namespace {

JsonLine start_line(const Plan& plan) {
  JsonLine line;
  line.add("event", "start")
      .add("program", plan.program)
      .add("build", plan.build)
      .add("seed", seed_text(plan.options.seed))
      .add("strategy", plan.options.strategy)
      .add("faults", plan.options.faults)
      .add("shard", plan.options.shard.index + 1)
      .add("shards", plan.options.shard.count)
      .add("tests", std::uint64_t{plan.tests.size()});
  return line;
}

JsonLine failure_line(const FailureRecord& failure) {
  JsonLine line;
  line.add("event", "failure")
      .add("test", failure.test)
      .add("class", failure.failure_class)
      .add("message", failure.message)
      .add("signature", failure.signature)
      .add("run", failure.run)
      .add("seed", failure.seed)
      .add("strategy", failure.strategy)
      .add("steps", failure.steps)
      .add("reproduce", failure.reproduce)
      .add("tape", failure.tape)
      .add("report", failure.report);
  return line;
}

JsonLine test_event(const TestOutcome& test) {
  const Counts& counts = test.tally.counts();
  JsonLine faults;
  for (const auto& [kind, count] : counts.faults) faults.add(kind, count);
  JsonLine line;
  line.add("event", "test")
      .add("test", test.name)
      .add("passed", test.tally.failures().empty())
      .add("exit_code", static_cast<std::uint64_t>(test.tally.exit_code()))
      .add("remark", test.remark)
      .add("runs", counts.runs)
      .add("failures", counts.failures)
      .add("limit_stops", counts.limit_stops)
      .add("behaviours", test.tally.behaviours().kinds())
      .add("behaviours_once", test.tally.behaviours().once())
      .add("steps", counts.steps)
      .add("steps_min", counts.steps_min)
      .add("steps_max", counts.steps_max)
      .add("draws", counts.draws)
      .add("virtual_ns", counts.virtual_ns)
      .add("determinism_checks", counts.determinism_checks)
      .add("trace_hash", seed_text(test.tally.trace_hash()))
      .add("faults", faults);
  return line;
}

}  // namespace

std::string json_lines(const Outcome& outcome) {
  std::string text = start_line(outcome.plan).text() + '\n';
  for (const TestOutcome& test : outcome.tests) {
    for (const FailureRecord& failure : test.tally.failures()) {
      text += failure_line(failure).text() + '\n';
    }
    text += test_event(test).text() + '\n';
  }
  JsonLine end;
  end.add("event", "end")
      .add("exit_code", static_cast<std::uint64_t>(outcome.exit_code()))
      .add("elapsed_ms", static_cast<std::uint64_t>(outcome.elapsed.count()));
  return text + end.text() + '\n';
}

}  // namespace fermata::sim::cli
