// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/program_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/cli/progress.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata::sim::cli {
namespace {

using std::chrono::milliseconds;

std::string budget_text(const RunOptions& options) {
  std::string text = options.runs == kNoEnd ? "" : fmt::format(" runs=1..{}", options.runs);
  if (options.time) text += fmt::format(" time={}ms", options.time->count());
  if (options.until_stable_ppm != 0) {
    text += fmt::format(" until-stable={}ppm", options.until_stable_ppm);
  }
  return text;
}

TestOutcome outcome_of(const TestExploration& test) {
  TestOutcome outcome{.name = test.name(),
                      .totals = test.totals(),
                      .remark = test.totals().coverage(),
                      .spent = test.spent()};
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

void print_crash_analysis(const FailureRecord& failure, milliseconds limit) {
  fmt::print("{} in run {} of {}: looking for its place and a smaller run, for {:.1f} s at most\n",
             failure.failure_class, failure.run + 1, failure.test,
             static_cast<double>(limit.count()) / 1000.0);
  std::fflush(stdout);
}

}  // namespace

ProgramRun::ProgramRun(RunOptions options, const TestBinary& binary,
                       const std::vector<ListedTest>& tests, std::string name)
    : options_(std::move(options)),
      binary_(binary),
      name_(std::move(name)),
      plan_(Plan::of(options_, binary, tests)),
      folder_(options_.out) {
  FERMATA_ASSERT(!plan_.tests.empty());
}

void ProgramRun::prepare() {
  FERMATA_ASSERT(!exploration_);
  folder_.take();
  exploration_.emplace(options_, binary_, folder_, plan_.tests, Exploration::Listener());
  exploration_->replay_first(options_.corpus);
  if (goes_on()) {
    resumed_ = exploration_->resume();
  } else {
    folder_.clear();
  }
  folder_.write_plan(plan_, ResultFolder::State::Under_way);
}

/// Whether the folder has the beginning of the very exploration that is planned.
bool ProgramRun::goes_on() const {
  if (!folder_.has_plan()) {
    if (!plan_.options.resume) return false;
    throw UsageError(fmt::format("--resume: {} has no exploration to go on with", folder_.path()));
  }
  ResultFolder::State state = ResultFolder::State::Complete;
  const Plan before = folder_.plan(&state);
  const bool same = plan_.same_exploration(before) &&
                    plan_.options.shard.index == before.options.shard.index &&
                    plan_.options.shard.count == before.options.shard.count;
  if (plan_.options.resume && !same) {
    throw UsageError(fmt::format(
        "--resume: the exploration in {} is another one: program, tests, seed, runs, strategy, "
        "faults, limits and shard have to be the same",
        folder_.path()));
  }
  return same && (plan_.options.resume || state == ResultFolder::State::Under_way);
}

void ProgramRun::print_first_line() const {
  std::string line = "sim:";
  if (!name_.empty()) line += " program=" + binary_.typed();
  line +=
      fmt::format(" seed={} strategy={}{} tests={} jobs={}", seed_text(options_.seed),
                  options_.strategy, budget_text(plan_.options), plan_.tests.size(), options_.jobs);
  if (options_.shard.count > 1) {
    line += fmt::format(" shard={}/{} ({})", options_.shard.index + 1, options_.shard.count,
                        options_.shard.origin);
  }
  fmt::print("{} build={} tape-format={}\n", line, plan_.build.substr(0, 8), kTapeFormat);
  if (options_.verbose) {
    fmt::print("sim: program={} out={} faults={} wall-limit={}ms\n", plan_.program, options_.out,
               options_.faults, options_.wall_limit.count());
  }
  if (resumed_) fmt::print("resuming: {} done\n", counted(*resumed_, "run"));
  std::fflush(stdout);
}

Exploration::End ProgramRun::explore(std::optional<milliseconds> time, milliseconds later) {
  FERMATA_ASSERT(exploration_.has_value());
  options_.time = time;
  print_first_line();
  Progress progress(plan_.tests.size());
  Exploration::Listener listener;
  listener.progress = [&](Moment moment) {
    if (moment.left) *moment.left += later;
    progress.show(moment);
  };
  listener.crash_analysis = [&](const FailureRecord& failure, milliseconds limit) {
    progress.clear();
    print_crash_analysis(failure, limit);
  };
  listener.test_over = [&](const TestExploration& test) {
    print_test(test, progress, options_.verbose);
  };
  exploration_->listen(std::move(listener));
  const Exploration::End end = exploration_->run();
  exploration_->listen({});
  progress.clear();
  interrupted_ = end == Exploration::End::Interrupted;
  return end;
}

RunOutcome ProgramRun::outcome() const {
  RunOutcome outcome{.plan = plan_,
                     .tests = {},
                     .elapsed = exploration_->elapsed(),
                     .interrupted = interrupted_,
                     .name = name_};
  for (const TestExploration& test : exploration_->tests()) {
    outcome.tests.push_back(outcome_of(test));
  }
  return outcome;
}

void ProgramRun::complete() {
  FERMATA_ASSERT(!interrupted_);
  for (const TestExploration& test : exploration_->tests()) plan_.spent[test.name()] = test.spent();
  folder_.write_plan(plan_, ResultFolder::State::Complete);
}

namespace {

/// "my_test", and "my_test-2" for another program of that name.
std::string fresh_name(const TestBinary& binary, const std::vector<std::string>& taken) {
  const std::string own = std::filesystem::path(binary.path()).filename().string();
  std::string name = own;
  const auto is_taken = [&] { return std::find(taken.begin(), taken.end(), name) != taken.end(); };
  for (int number = 2; is_taken(); ++number) name = fmt::format("{}-{}", own, number);
  return name;
}

void check_programs(const RunOptions& options,
                    const std::vector<std::unique_ptr<TestBinary>>& binaries) {
  if (binaries.size() == 1) return;
  const auto is_twin = [](const auto& setting) { return setting.first == "FERMATA_TWIN"; };
  if (std::any_of(options.handed_on.begin(), options.handed_on.end(), is_twin)) {
    throw UsageError(
        fmt::format("--twin: it names another build of one program; expected one program, got {}",
                    binaries.size()));
  }
  for (std::size_t i = 0; i < binaries.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      std::error_code error;
      if (!std::filesystem::equivalent(binaries[i]->path(), binaries[j]->path(), error)) continue;
      throw UsageError(fmt::format("run: {} and {} are the same program; expected each once",
                                   binaries[j]->typed(), binaries[i]->typed()));
    }
  }
}

}  // namespace

std::vector<std::unique_ptr<ProgramRun>> prepare_programs(
    const RunOptions& options, const std::vector<std::string>& paths,
    std::vector<std::unique_ptr<TestBinary>>& binaries) {
  FERMATA_ASSERT(!paths.empty());
  for (const std::string& path : paths) {
    binaries.push_back(
        std::make_unique<TestBinary>(path, std::min(options.wall_limit, TestBinary::kPatience)));
  }
  check_programs(options, binaries);
  std::vector<std::unique_ptr<ProgramRun>> programs;
  std::vector<std::string> names;
  for (const auto& binary : binaries) {
    const Selection selection = binary->select(options.filter, options.disabled);
    RunOptions own = options;
    if (binaries.size() > 1) {
      names.push_back(fresh_name(*binary, names));
      own.out += '/' + names.back();
    }
    if (selection.tests.empty()) continue;
    programs.push_back(std::make_unique<ProgramRun>(std::move(own), *binary, selection.tests,
                                                    names.empty() ? "" : names.back()));
  }
  if (programs.empty()) refuse_selection(binaries, options.filter, options.disabled);
  for (const auto& program : programs) program->prepare();
  return programs;
}

}  // namespace fermata::sim::cli
