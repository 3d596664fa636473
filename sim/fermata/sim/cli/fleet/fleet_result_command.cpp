// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/fleet/fleet_commands.hpp"
#include "fermata/sim/cli/fleet/fleet_result.hpp"
#include "fermata/sim/cli/fleet/input_folders.hpp"
#include "fermata/sim/cli/outcome.hpp"
#include "fermata/sim/fleet/plan_folder.hpp"

namespace fermata::sim::cli {
namespace {

/// The corpora of all tests, from the folder `root` of the plan.
void write_corpora(const FleetOutcome& outcome, const std::string& root, const std::string& corpus,
                   CorpusLayout layout) {
  const fleet::PlanFolder folder(root);
  for (const auto& [test, names] : outcome.corpora) {
    Inputs inputs;
    for (const std::string& name : names) inputs[name] = whole_file(folder.inputs() + '/' + name);
    write_corpus(inputs, test, corpus, layout);
  }
}

}  // namespace

int fleet_result_command(const Arguments& arguments) {
  const std::string& root = arguments.operands.front();
  const std::string json = arguments.value("FERMATA_JSON");
  const std::string junit = arguments.value("FERMATA_JUNIT");
  const std::string corpus = arguments.value("FERMATA_CORPUS");
  const CorpusLayout layout = parse_layout(arguments.value("FERMATA_LAYOUT"));
  check_reports(json, junit);
  const FleetPlan plan = FleetPlan::load(root);
  if (!corpus.empty() && !plan.fuzzes()) {
    throw UsageError(fmt::format(
        "--corpus: the tests of {} are explored: expected a plan of `fermata fleet fuzz`", root));
  }
  const FleetOutcome outcome = merged_fleet(plan, root);
  if (!outcome.is_complete() && arguments.value("FERMATA_PARTIAL") != "on") {
    throw UsageError(fmt::format(
        "{}: {}: expected a complete plan; `fermata fleet work` goes on with it, and --partial "
        "merges what is there",
        root, outcome.missing()));
  }
  const Plan& exploration = plan.exploration();
  fmt::print("sim: seed={} strategy={} tests={} merged from {} of {} chunks\n",
             seed_text(exploration.options.seed), exploration.options.strategy,
             exploration.tests.size(), outcome.done, outcome.chunks);
  fmt::print("the paths in what follows begin in {}\n", root);
  for (const TestOutcome& test : outcome.run.tests) {
    fmt::print("{}{}\n", failure_text(test), test_line(test));
  }
  if (outcome.canary_done && !outcome.canary_found) {
    fmt::print(
        "RED: the canary was not found. Its bug is planted and shows in every second run: what "
        "these workers explore does not find bugs\n");
  }
  const RunOutcomes all(&outcome.run, 1);
  fmt::print("{}", statistics_text(all));
  write_reports(all, json, junit);
  if (!corpus.empty()) write_corpora(outcome, root, corpus, layout);
  return outcome.exit_code();
}

}  // namespace fermata::sim::cli
