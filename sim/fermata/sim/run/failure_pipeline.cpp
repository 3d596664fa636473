// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/failure_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/inspect/loaded_libraries.hpp"
#include "fermata/sim/report/report_file.hpp"
#include "fermata/sim/run/culprit_search.hpp"
#include "fermata/sim/run/failure_artifacts.hpp"
#include "fermata/sim/run/forked_trials.hpp"
#include "fermata/sim/run/fresh_process.hpp"
#include "fermata/sim/run/in_process_trials.hpp"
#include "fermata/sim/run/test_host.hpp"
#include "fermata/sim/run/world_options.hpp"
#include "fermata/sim/run/worst_verdict.hpp"

namespace fermata::sim::detail {
namespace {

/// Whether what may be asked for, or left to what is usual, is to be done.
bool wanted(When when, bool usual) noexcept {
  return when == When::On || (when == When::Auto && usual);
}

/// The limit of steps for runs that may fail as `found` does. A run that goes on for much longer,
/// perhaps forever because a random wait no longer ends, fails in another way, if at all.
std::uint64_t steps_to_follow(const FoundFailure& found) {
  if (found.failure.by_limit) return std::numeric_limits<std::uint64_t>::max();
  return 10 * found.steps + 10'000;
}

/// Whether nobody would paste it: a strategy that has counted something spells all of that out.
bool is_long(const std::string& strategy) noexcept {
  constexpr std::size_t kLongest = 200;
  return strategy.size() > kLongest;
}

/// The shrinker's own limits, but for what the process's options say.
ShrinkLimits shrink_limits(const Options& options) noexcept {
  return {.runs_in_vain = options.shrink_runs};
}

/// Each run of the search for a smaller one that hangs takes long.
ShrinkLimits limits_of_death(const FoundFailure& found, const Options& options) noexcept {
  constexpr std::uint64_t kMostInVain = 100;
  ShrinkLimits limits = shrink_limits(options);
  const bool hangs = found.crash->end.kind == ProcessEnd::Kind::Hang;
  if (hangs && options.repeatable) limits.runs_in_vain = std::min(limits.runs_in_vain, kMostInVain);
  return limits;
}

}  // namespace

void FailurePipeline::explored(FoundFailure found, const Reproduction& exploration,
                               std::uint64_t runs) const {
  FERMATA_ASSERT(!found.crash);
  found.tape.program = path_to_type();
  Reproduction reproduction{.seed = found.tape.seed, .strategy = found.tape.strategy};
  const bool alone = found.repeatable && comes_back(found, reproduction);
  if (!alone) reproduction = exploration;
  ReportContext context;
  context.explored = true;
  context.runs = runs;
  const std::string stem = artifact_stem(found, options_);
  context.tape_path = written_tape(found.tape, stem + ".tape");
  const bool by_tape = alone && !context.tape_path.empty() && is_long(reproduction.strategy);
  context.reproduce = by_tape ? command_to_replay(context.tape_path)
                              : command_line(settings_of(reproduction, options_), test_);
  if (alone && found.failure.verdict != Verdict::Nondeterminism) {
    if (wanted(options_.shrink, true)) shrink(found, path_of_shrunk(stem), context);
    if (wanted(options_.explain, true)) explain(found, context);
  }
  write_beside_tape(found, stem, options_, context);
  report(found, context);
}

// What is known before the search is told at once: a tape, and the stack of the end.
void FailurePipeline::explored_crash(const ExploreOptions& exploration) const {
  FERMATA_ASSERT(options_.crash_limit.has_value());
  std::optional<FoundFailure> found = crashes_.find(exploration);
  if (!found) return;
  found->tape.program = path_to_type();
  if (options_.repeatable) found->crash->errors.clear();
  ReportContext context;
  const std::string stem = artifact_stem(*found, options_);
  context.tape_path = written_tape(found->tape, stem + ".tape");
  context.not_shrunk = "the search did not finish";
  events_.failure(*found, context, failure_report(*found, context));
  shrink(*found, path_of_shrunk(stem), context);
  report(*found, context);
}

void FailurePipeline::replayed(FoundFailure found) const {
  FERMATA_ASSERT(!found.crash);
  FERMATA_ASSERT(!options_.replay.empty());
  found.tape.program = path_to_type();
  ReportContext context;
  context.reproduce = command_to_replay(options_.replay);
  if (found.failure.verdict != Verdict::Divergence) {
    if (wanted(options_.shrink, false)) shrink(found, path_of_shrunk(options_.replay), context);
    const bool shown = !options_.report.empty() && has_explanation(format_of_report());
    if (wanted(options_.explain, shown)) explain(found, context);
  }
  report(found, context);
  if (const auto to_show = run_report(found, context)) show(*to_show);
}

void FailurePipeline::replayed_crash(const Tape& tape) const {
  FERMATA_ASSERT(is_crash(tape.signature));
  const FoundFailure found = crashes_.find(tape, options_.replay);
  ReportContext context;
  shrink(found, path_of_shrunk(options_.replay), context);
  report(found, context);
}

void FailurePipeline::replayed_passing(RunReport report) const {
  FERMATA_ASSERT(!report.failure);
  report.program = path_to_type();
  report.reproduce = command_to_replay(options_.replay);
  show(report);
}

void FailurePipeline::show(const RunReport& report) const {
  FERMATA_ASSERT(!report.runs.empty());
  if (options_.report.empty()) return;
  write_report(report, format_of_report(), options_.report);
  fmt::print("report: {}\n", options_.report);
}

ReportFormat FailurePipeline::format_of_report() const {
  return options_.report_format ? *options_.report_format : format_of_file(options_.report);
}

std::string FailurePipeline::command_to_replay(const std::string& tape) const {
  FERMATA_ASSERT(!tape.empty());
  Settings settings = {{"FERMATA_REPLAY", tape}};
  if (options_.replay_mode == ReplayMode::Best) {
    settings.emplace_back("FERMATA_REPLAY_MODE", "best");
  }
  return command_line(settings, test_);
}

/// Whether the failure is the same in a fresh process; when not it becomes another one.
bool FailurePipeline::comes_back(FoundFailure& found, const Reproduction& reproduction) const {
  FERMATA_ASSERT(found.repeatable);
  Failure& failure = found.failure;
  if (failure.verdict == Verdict::Nondeterminism) return true;
  const Fingerprint here{.signature = failure.signature(),
                         .trace_hash = found.tape.trace_hash,
                         .steps = found.steps,
                         .end = found.end.nanoseconds};
  try {
    const std::optional<Fingerprint> there =
        run_in_fresh_process(settings_of(reproduction, options_), test_);
    if (there == here) return true;
    failure.explanation = fmt::format("here:  {}\nthere: {}\n", here.text(),
                                      there ? there->text() : "the process gave no answer");
  } catch (const InputOutputError& error) {
    failure.beneath += fmt::format("not run in a fresh process: {}\n", error.what());
    return true;
  }
  failure.verdict = Verdict::Nondeterminism;
  failure.message = "state leaks between runs: the failure did not come back in a fresh process";
  failure.message_lines.clear();
  return false;
}

/// The smaller tape goes to `path`. Who replays a tape has asked for it: then one that cannot be
/// written is an error.
void FailurePipeline::shrink(const FoundFailure& found, const std::string& path,
                             ReportContext& context) const {
  FERMATA_ASSERT(!path.empty());
  const auto keep = [&](const Tape& smaller) {
    if (!options_.replay.empty()) save_tape(smaller, path);
    context.shrunk_tape_path = options_.replay.empty() ? written_tape(smaller, path) : path;
  };
  ShrinkAttempt attempt = attempt_to_shrink(found, keep);
  if (attempt.shrunk) keep(attempt.shrunk->found.tape);
  if (found.crash) context.not_shrunk = std::move(attempt.why_not);
  context.shrunk = std::move(attempt.shrunk);
  FERMATA_ASSERT(!context.shrunk || !context.shrunk_tape_path.empty());
}

ShrinkAttempt FailurePipeline::attempt_to_shrink(const FoundFailure& found,
                                                 const ForkedTrials::Keep& keep) const {
  WorldOptions world = world_options(options_, found.tape);
  if (found.crash) {
    const auto bound = options_.repeatable ? ForkedTrials::Bound::Runs : ForkedTrials::Bound::Time;
    ForkedTrials trials(program_, world, found, crashes_.run_limit(), keep, bound);
    return sim::shrink(trials, program_, found.tape, limits_of_death(found, options_));
  }
  world.step_limit = std::min(world.step_limit, steps_to_follow(found));
  InProcessTrials trials(program_, world, found.tape);
  return sim::shrink(trials, program_, found.tape, shrink_limits(options_));
}

void FailurePipeline::explain(const FoundFailure& found, ReportContext& context) const {
  const FoundFailure& shown = context.shrunk ? context.shrunk->found : found;
  const WorldOptions world = world_options(options_, shown.tape);
  const Culprit culprit =
      find_culprit(program_, world, shown.tape, {.steps_of_run = steps_to_follow(shown)});
  context.explanation = sim::explain(
      shown, culprit,
      {.stacks = options_.explain == When::On, .all_steps = options_.trace == TraceMode::All});
  context.all_lines = options_.trace == TraceMode::All;
}

void FailurePipeline::report(const FoundFailure& found, ReportContext context) const {
  context.foreign = unserved_text();
  note_verdict(found.failure.verdict);
  std::string text = failure_report(found, context);
  events_.failure(found, context, text);
  if (found.crash) text.insert(0, found.signature() + '\n');
  fail_test(text);
}

}  // namespace fermata::sim::detail
