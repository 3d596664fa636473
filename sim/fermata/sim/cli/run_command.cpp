// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/cli/commands.hpp"
#include "fermata/sim/cli/exploration.hpp"
#include "fermata/sim/cli/interrupts.hpp"
#include "fermata/sim/cli/outcome.hpp"
#include "fermata/sim/cli/progress.hpp"
#include "fermata/sim/cli/result_folder.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata::sim::cli {
namespace {

std::string budget_text(const RunOptions& options) {
  std::string text = options.runs == kNoEnd ? "" : fmt::format(" runs=1..{}", options.runs);
  if (options.time) text += fmt::format(" time={}ms", options.time->count());
  if (options.until_stable_ppm != 0) {
    text += fmt::format(" until-stable={}ppm", options.until_stable_ppm);
  }
  return text;
}

void print_first_line(const Plan& plan) {
  const RunOptions& options = plan.options;
  std::string line =
      fmt::format("sim: seed={} strategy={}{} tests={} jobs={}", seed_text(options.seed),
                  options.strategy, budget_text(options), plan.tests.size(), options.jobs);
  if (options.shard.count > 1) {
    line += fmt::format(" shard={}/{} ({})", options.shard.index + 1, options.shard.count,
                        options.shard.origin);
  }
  fmt::print("{} build={} tape-format={}\n", line, plan.build.substr(0, 8), kTapeFormat);
  if (options.verbose) {
    fmt::print("sim: program={} out={} faults={} wall-limit={}ms\n", plan.program, options.out,
               options.faults, options.wall_limit.count());
  }
  std::fflush(stdout);
}

/// Whether `folder` has the beginning of the very exploration that `plan` is.
bool goes_on(const Plan& plan, const ResultFolder& folder) {
  if (!folder.has_plan()) {
    if (!plan.options.resume) return false;
    throw UsageError(fmt::format("--resume: {} has no exploration to go on with", folder.path()));
  }
  ResultFolder::State state = ResultFolder::State::Complete;
  const Plan before = folder.plan(&state);
  const bool same = plan.same_exploration(before) &&
                    plan.options.shard.index == before.options.shard.index &&
                    plan.options.shard.count == before.options.shard.count;
  if (plan.options.resume && !same) {
    throw UsageError(fmt::format(
        "--resume: the exploration in {} is another one: program, tests, seed, runs, strategy, "
        "faults, limits and shard have to be the same",
        folder.path()));
  }
  return same && (plan.options.resume || state == ResultFolder::State::Under_way);
}

TestOutcome outcome_of(const TestExploration& test) {
  TestOutcome outcome{test.name(), test.totals(), test.totals().coverage()};
  if (test.is_stable()) outcome.remark = "stable";
  if (test.given_up()) outcome.remark = "given up after too many crashes";
  return outcome;
}

void print_test(const TestExploration& test, Progress& progress, bool verbose) {
  progress.clear();
  const TestOutcome outcome = outcome_of(test);
  if (verbose) fmt::print("{}\n", world_line(outcome));
  fmt::print("{}{}\n", failure_text(outcome), test_line(outcome));
  std::fflush(stdout);
}

}  // namespace

int run_command(const Arguments& arguments) {
  const RunOptions options = run_options(arguments);
  const TestBinary binary(options.binary, std::min(options.wall_limit, TestBinary::kPatience));
  const Plan plan = Plan::of(options, binary, binary.selected(options.filter, options.disabled));
  check_reports(options.json, options.junit);
  ResultFolder folder(options.out);
  folder.take();
  count_interrupts();
  print_first_line(plan);

  Progress progress(plan.tests.size());
  Exploration::Listener listener;
  listener.progress = [&](const Moment& moment) { progress.show(moment); };
  listener.crash_analysis = [&](const FailureRecord& failure, std::chrono::milliseconds limit) {
    progress.clear();
    fmt::print(
        "{} in run {} of {}: looking for its place and a smaller run, for {:.1f} s at most\n",
        failure.failure_class, failure.run + 1, failure.test,
        static_cast<double>(limit.count()) / 1000.0);
    std::fflush(stdout);
  };
  listener.test_over = [&](const TestExploration& test) {
    print_test(test, progress, options.verbose);
  };
  Exploration exploration(options, binary, folder, plan.tests, listener);
  exploration.replay_first(options.corpus);
  if (goes_on(plan, folder)) {
    fmt::print("resuming: {} done\n", counted(exploration.resume(), "run"));
  } else {
    folder.clear();
  }
  folder.write_plan(plan, ResultFolder::State::Under_way);
  const Exploration::End end = exploration.run();
  progress.clear();

  RunOutcome outcome{.plan = plan,
                     .elapsed = exploration.elapsed(),
                     .interrupted = end == Exploration::End::Interrupted};
  for (const TestExploration& test : exploration.tests()) outcome.tests.push_back(outcome_of(test));
  fmt::print("{}", statistics_text(outcome));
  write_reports(outcome, options.json, options.junit);
  if (outcome.interrupted) {
    fmt::print("interrupted: the same command resumes from {}\n", folder.path());
    return kInterrupted;
  }
  folder.write_plan(plan, ResultFolder::State::Complete);
  return outcome.exit_code();
}

}  // namespace fermata::sim::cli
