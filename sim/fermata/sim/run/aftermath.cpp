// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/aftermath.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/report/report_file.hpp"
#include "fermata/sim/run/culprit_search.hpp"
#include "fermata/sim/run/fresh_process.hpp"
#include "fermata/sim/run/verdicts.hpp"
#include "fermata/sim/run/world_options.hpp"

namespace fermata::sim::detail {
namespace {

/// Whether what may be asked for, or left to what is usual, is to be done.
bool wanted(When when, bool usual) noexcept {
  return when == When::On || (when == When::Auto && usual);
}

/// Of runs that may fail as `found` does. One that goes on for so much longer, perhaps for ever
/// because a random wait has become none, fails in another way, if at all.
std::uint64_t steps_to_follow(const FoundFailure& found) {
  if (found.failure.by_limit) return std::numeric_limits<std::uint64_t>::max();
  return 10 * found.steps + 10'000;
}

/// `path`, or why nothing is there: a failure is reported though the disk is full.
template <class F>
std::string written(const std::string& path, F write) {
  try {
    write();
    return path;
  } catch (const InputOutputError& error) {
    return std::string("not written: ") + error.what();
  }
}

}  // namespace

ShrinkLimits shrink_limits(const Options& options) noexcept {
  return {.runs_in_vain = options.shrink_runs};
}

std::string path_of_shrunk(std::string path) {
  constexpr std::string_view kTape = ".tape";
  constexpr std::string_view kShrunk = ".shrunk";
  if (path.ends_with(kTape)) path.erase(path.size() - kTape.size());
  if (path.ends_with(kShrunk)) path.erase(path.size() - kShrunk.size());
  return path.append(kShrunk).append(kTape);
}

void Aftermath::of_exploration(FoundFailure found, const Reproduction& exploration,
                               std::uint64_t runs) const {
  found.tape.program = path_to_type();
  Reproduction reproduction{found.tape.seed, 1, found.tape.strategy};
  const bool alone = found.repeatable && comes_back(found, reproduction);
  if (!alone) reproduction = exploration;
  ReportContext context;
  context.explored = true;
  context.runs = runs;
  context.reproduce = command_line(settings_of(reproduction, options_), test_);
  if (alone && found.failure.verdict != Verdict::Nondeterminism) {
    if (wanted(options_.shrink, true)) make_small(found, context);
    if (wanted(options_.explain, true)) explain(found, context);
  }
  write_artifacts(found, context);
  report(found, context);
}

void Aftermath::of_replay(FoundFailure found) const {
  found.tape.program = path_to_type();
  ReportContext context;
  context.reproduce = command_to_replay();
  if (found.failure.verdict != Verdict::Divergence) {
    if (wanted(options_.shrink, false)) {
      make_small(found, context);
      if (context.shrunk) {
        context.shrunk_tape_path = path_of_shrunk(options_.replay);
        save_tape(context.shrunk->found.tape, context.shrunk_tape_path);
      }
    }
    const bool shown = !options_.report.empty() && has_explanation(format_of_report());
    if (wanted(options_.explain, shown)) explain(found, context);
  }
  report(found, context);
  if (const auto to_show = run_report(found, context)) show(*to_show);
}

void Aftermath::of_passing_replay(RunReport report) const {
  report.program = path_to_type();
  report.reproduce = command_to_replay();
  show(report);
}

void Aftermath::show(const RunReport& report) const {
  if (options_.report.empty()) return;
  write_report(report, format_of_report(), options_.report);
  fmt::print("report: {}\n", options_.report);
}

ReportFormat Aftermath::format_of_report() const {
  return options_.report_format ? *options_.report_format : format_of_file(options_.report);
}

std::string Aftermath::command_to_replay() const {
  Settings settings = {{"FERMATA_REPLAY", options_.replay}};
  if (options_.replay_mode == ReplayMode::Best) {
    settings.emplace_back("FERMATA_REPLAY_MODE", "best");
  }
  return command_line(settings, test_);
}

/// Whether the failure is the same in a fresh process; when not it becomes another one.
bool Aftermath::comes_back(FoundFailure& found, const Reproduction& reproduction) const {
  Failure& failure = found.failure;
  if (failure.verdict == Verdict::Nondeterminism) return true;
  const Fingerprint here{failure.signature(), found.tape.trace_hash, found.steps,
                         found.end.nanoseconds};
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
  return false;
}

void Aftermath::make_small(const FoundFailure& found, ReportContext& context) const {
  WorldOptions world = world_options(options_, found.tape);
  world.step_limit = std::min(world.step_limit, steps_to_follow(found));
  context.shrunk = shrink(program_, world, found.tape, shrink_limits(options_));
}

void Aftermath::explain(const FoundFailure& found, ReportContext& context) const {
  const FoundFailure& shown = context.shrunk ? context.shrunk->found : found;
  const WorldOptions world = world_options(options_, shown.tape);
  const Culprit culprit =
      find_culprit(program_, world, shown.tape, {.steps_of_run = steps_to_follow(shown)});
  context.explanation = sim::explain(shown, culprit, options_.explain == When::On);
}

/// What its files are called: by the seed, and where other runs have the same one by what tells
/// them apart. Under a strategy that tries one schedule after the other it is that of run 0 for
/// all.
std::string Aftermath::name_of(const FoundFailure& found) const {
  const std::string seed = seed_text(found.tape.seed);
  if (found.tape.strategy.starts_with("bytes:")) {
    return fmt::format("{}-{:x}", seed, key_of(found.tape.strategy));
  }
  const bool same_for_all =
      found.run > 0 && found.tape.seed == options_.seed.value_or(Options::kDefaultSeed);
  return same_for_all ? fmt::format("{}-run{}", seed, found.run + 1) : seed;
}

void Aftermath::write_artifacts(const FoundFailure& found, ReportContext& context) const {
  const std::string stem = fmt::format("{}/{}/{}", options_.out, test_, name_of(found));
  const std::string tape = stem + ".tape";
  context.tape_path = written(tape, [&] { save_tape(found.tape, tape); });
  if (context.shrunk) {
    const std::string shrunk = path_of_shrunk(tape);
    context.shrunk_tape_path =
        written(shrunk, [&] { save_tape(context.shrunk->found.tape, shrunk); });
  }
  write_beside(stem, found, context);
  write_histories(context.shrunk ? context.shrunk->found : found, stem, context);
  if (!options_.trace) return;
  std::string steps;
  for (const std::uint64_t hash : found.step_hashes) steps += seed_text(hash) + '\n';
  const std::string path = stem + ".steps";
  context.trace_path = written(path, [&] { write_whole_file(path, steps); });
}

void Aftermath::write_beside(const std::string& stem, const FoundFailure& found,
                             ReportContext& context) const {
  const auto report = options_.reports ? run_report(found, context) : std::nullopt;
  if (!report) return;
  const ReportFormat format = options_.report_format.value_or(ReportFormat::Html);
  const std::string path = stem + std::string(extension_of(format));
  context.report_path = written(path, [&] { write_report(*report, format, path); });
}

/// Of the smaller run, if there is one: it is the one that is explained.
void Aftermath::write_histories(const FoundFailure& found, const std::string& stem,
                                ReportContext& context) const {
  if (found.histories.empty()) return;
  const std::string path = stem + ".histories.json";
  context.histories_path = written(path, [&] {
    write_whole_file(path, fmt::format("[{}]\n", fmt::join(found.histories, ",\n")));
  });
}

void Aftermath::report(const FoundFailure& found, const ReportContext& context) const {
  note_verdict(found.failure.verdict);
  const std::string text = failure_report(found, context);
  events_.failure(found, context, text);
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  ADD_FAILURE_AT(test->file(), test->line()) << text;
}

}  // namespace fermata::sim::detail
