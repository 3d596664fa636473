// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/cli/fleet/fleet_commands.hpp"
#include "fermata/sim/cli/fleet/fleet_generations.hpp"
#include "fermata/sim/cli/fleet/fleet_names.hpp"
#include "fermata/sim/cli/fleet/fleet_plan.hpp"
#include "fermata/sim/cli/fleet/fleet_result.hpp"
#include "fermata/sim/cli/fleet/fuzz_process.hpp"
#include "fermata/sim/cli/fleet/input_folders.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/fleet/plan_folder.hpp"
#include "fermata/sim/fleet/publisher.hpp"
#include "fermata/sim/run/canary.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/fresh_process.hpp"

namespace fermata::sim::cli {
namespace {

namespace files = std::filesystem;
using std::chrono::milliseconds;

milliseconds lease_of(const Arguments& arguments) {
  const auto given = arguments.settings.find("FERMATA_LEASE");
  if (given == arguments.settings.end()) return milliseconds(60'000);
  try {
    const auto lease =
        std::chrono::duration_cast<milliseconds>(parse_duration(given->second.value));
    if (lease < milliseconds(100)) {
      throw UsageError(
          fmt::format("{} is too short: expected at least 100ms", given->second.value));
    }
    return lease;
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", given->second.origin, error.what()));
  }
}

/// Makes the folder, or finds it empty. Throws UsageError when another plan has it.
void take_folder(const std::string& root, const FleetPlan& plan) {
  std::error_code error;
  files::create_directories(root, error);
  if (error) {
    throw UsageError(
        fmt::format("--plan: the folder {} cannot be made: {}", root, error.message()));
  }
  if (files::exists(root + "/plan.json")) {
    const bool is_same = FleetPlan::load(root).is_same(plan);
    throw UsageError(fmt::format(
        "--plan: {} has {} already: expected an empty folder; `fermata fleet work` goes on with "
        "what is there",
        root, is_same ? "this plan" : "another plan"));
  }
  if (files::directory_iterator(root, error) != files::directory_iterator()) {
    throw UsageError(fmt::format("--plan: {} is not empty: expected an empty folder", root));
  }
}

void copy_program(const TestBinary& binary, const std::string& target) {
  std::error_code error;
  files::copy_file(binary.path(), target, error);
  if (error) {
    throw UsageError(
        fmt::format("{} cannot be copied to {}: {}", binary.path(), target, error.message()));
  }
}

/// Whether exploring the program's canary finds it.
bool finds_canary(const TestBinary& binary) {
  const fermata::sim::detail::TemporaryFile events;
  Command command = binary.command_for(kCanaryTest);
  command.settings = {{"FERMATA_RUNS", "250"},
                      {"FERMATA_FAULTS", "none"},
                      {"FERMATA_SHRINK", "off"},
                      {"FERMATA_INTERNAL_EVENTS", events.path()},
                      {"FERMATA_OUT", events.path() + ".out"}};
  Child child(command);
  const bool has_ended = run_to_end(child, milliseconds(30'000));
  const std::vector<FailureRecord> failures = read_events(events.path()).failures;
  files::remove_all(events.path() + ".out");
  files::remove(events.path() + ".behaviours");
  return has_ended && is_canary_found(failures);
}

/// Throws UsageError unless the program has the canary, and this machine finds it.
void require_canary(const TestBinary& binary) {
  if (finds_canary(binary)) return;
  throw UsageError(
      fmt::format("{} has no test {}, which every plan begins with, or does not fail it: expected "
                  "a program of GoogleTest that links fermata::sim",
                  binary.path(), kCanaryTest));
}

/// Throws UsageError unless the program has libFuzzer, and that finds the canary.
void require_fuzzer(const TestBinary& binary) {
  const fermata::sim::detail::TemporaryFile place;
  const std::string folder = place.path() + ".fuzz";
  RunOptions options;
  options.faults = "none";
  options.handed_on = {{"FERMATA_SHRINK", "off"}, {"FERMATA_EXPLAIN", "off"}};
  std::optional<Fuzzed> fuzzed;
  try {
    fuzzed = fuzz({binary, options, [] {}}, kCanaryTest, {}, {1, 2'000}, folder);
  } catch (const Error& error) {
    files::remove_all(folder);
    throw UsageError(fmt::format("{} cannot be fuzzed: {}", binary.path(), error.what()));
  }
  files::remove_all(folder);
  if (fuzzed && !fuzzed->failing) {
    throw UsageError(fmt::format("{}: libFuzzer does not find {}, which every plan begins with",
                                 binary.path(), kCanaryTest));
  }
}

/// How much there is to do.
std::string extent_of(const FleetPlan& plan) {
  if (plan.is_open()) return "time=" + duration_text(*plan.terms().time);
  const std::size_t chunks = plan.fuzzes() ? FleetGenerations::count(plan) : plan.size();
  return fmt::format("runs={} chunks={}", plan.exploration().options.runs, chunks);
}

/// What fuzzing begins with.
struct Corpus {
  Inputs inputs;
  FleetPlan::Seeds names;  // By test.
};

Corpus corpus_in(const std::string& folder, const std::vector<std::string>& tests) {
  Corpus corpus;
  if (folder.empty()) return corpus;
  for (const std::string& test : tests) {
    Inputs own = inputs_for(test, folder);
    for (const auto& one : own) corpus.names[test].push_back(one.first);
    corpus.inputs.merge(own);
  }
  return corpus;
}

}  // namespace

int fleet_plan_command(const Arguments& arguments, MakeReactor make_reactor) {
  RunOptions options = run_options(arguments);
  const bool fuzzes = arguments.verb == "fleet fuzz";
  const std::string root = arguments.value("FERMATA_PLAN");
  if (root.empty()) {
    throw UsageError("--plan is missing: expected a folder that all workers share");
  }
  options.shard = {};
  options.keep_going = true;
  const std::string corpus_folder = std::exchange(options.corpus, "");
  if (fuzzes) options.strategy = kLibFuzzer;
  const TestBinary binary(arguments.operands.front());
  Plan exploration = Plan::of(options, binary, binary.selected(options.filter, options.disabled));
  exploration.program = "program";
  const Corpus corpus = corpus_in(corpus_folder, exploration.tests);
  const FleetPlan plan(std::move(exploration), {.lease = lease_of(arguments),
                                                .names = names_for_plan(options),
                                                .seeds = corpus.names,
                                                .time = options.time});
  fuzzes ? require_fuzzer(binary) : require_canary(binary);
  take_folder(root, plan);
  Runtime runtime(make_reactor(), {.handle_stop_signals = false});
  runtime.run([&] {
    const fleet::PlanFolder folder(root);
    folder.create();
    fleet::Publisher publisher(folder, "plan");
    for (const auto& [name, bytes] : corpus.inputs) publisher.publish(folder.inputs(), name, bytes);
  });
  copy_program(binary, root + "/program");
  plan.save(root);
  fmt::print("plan: seed={} strategy={} {} tests={} lease={} build={}\n", seed_text(options.seed),
             options.strategy, extent_of(plan), plan.exploration().tests.size(),
             duration_text(plan.lease()), plan.exploration().build.substr(0, 8));
  fmt::print("next: fermata fleet work {}\n", root);
  return kPass;
}

}  // namespace fermata::sim::cli
