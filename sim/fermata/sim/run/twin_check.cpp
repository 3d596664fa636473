// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/twin_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "fermata/sim/run/twin_process.hpp"

namespace fermata::sim::detail {
namespace {

const Circumstances kAll{.memory = true, .environment = true, .locale = true, .program = {}};
/// Which of them it is that a run depends on.
const std::array<Circumstances, 3> kEach = {
    Circumstances{.memory = true, .environment = false, .locale = false, .program = {}},
    Circumstances{.memory = false, .environment = true, .locale = false, .program = {}},
    Circumstances{.memory = false, .environment = false, .locale = true, .program = {}}};

/// How many of the runs behind one are suspected, nearest first: each takes a process.
constexpr std::size_t kLaterRunsTried = 32;

Fingerprint print_of(const RunResult& result) {
  return {.signature = result.signature(),
          .trace_hash = result.trace_hash,
          .steps = result.steps,
          .end = result.end.nanoseconds};
}

TwinRun twin_run(const CheckedRun& run) { return {run.seed, run.strategy}; }

class TwinCheck {
 public:
  TwinCheck(const Program& program, const ExploreOptions& explore, const ExploreResult& result,
            const Options& options)
      : program_(program), explore_(explore), checked_(result.checked), options_(options) {}

  std::optional<FoundFailure> find() const {
    if (checked_.empty()) return std::nullopt;
    if (auto found = compare(kAll)) return found;
    if (options_.twin_program.empty()) return std::nullopt;
    Circumstances other_build;
    other_build.program = options_.twin_program;
    return compare(other_build);
  }

 private:
  Twin twin(const Circumstances& circumstances) const {
    const Reproduction reproduction{.seed = explore_.seed, .strategy = explore_.strategy};
    return {explore_.name, settings_of(reproduction, options_), circumstances};
  }

  /// The twin makes the last run first, so that what runs leave for later ones is another thing
  /// there. Of several runs that differ the first is told.
  std::optional<FoundFailure> compare(const Circumstances& circumstances) const {
    std::vector<TwinRun> runs;
    for (auto run = checked_.rbegin(); run != checked_.rend(); ++run) {
      runs.push_back(twin_run(*run));
    }
    const std::vector<Fingerprint> there = twin(circumstances).results_of(runs);
    FERMATA_ASSERT(there.size() <= checked_.size());
    const std::size_t unanswered = checked_.size() - there.size();
    if (unanswered > 0) return tell(checked_[unanswered - 1], circumstances, std::nullopt);
    for (std::size_t i = 0; i < checked_.size(); ++i) {
      const Fingerprint& other = there[checked_.size() - 1 - i];
      if (other == print_of(checked_[i].result)) continue;
      const bool by_build = !circumstances.program.empty();
      return by_build ? tell(checked_[i], circumstances, other) : tell_cause(i, other);
    }
    return std::nullopt;
  }

  /// With as little changed as makes it another run. What is the same in a process of its own,
  /// whatever is changed there, depends on what other runs of the process have left.
  FoundFailure tell_cause(std::size_t index, const Fingerprint& other) const {
    const CheckedRun& run = checked_[index];
    const auto plain = result_in({}, run);
    for (const Circumstances& one : kEach) {
      const auto there = result_in(one, run);
      if (there != plain) return tell(run, one, there);
    }
    if (plain != print_of(run.result)) {
      return by_others(tell(run, run, {}, plain,
                            fmt::format("state leaks between runs: run {} is another one in a "
                                        "process that makes no other run",
                                        run.run + 1)));
    }
    if (const auto all = result_in(kAll, run); all != plain) return tell(run, kAll, all);
    return tell_later_run(index, other);
  }

  /// Its own seed alone does not show it.
  static FoundFailure by_others(FoundFailure found) {
    found.repeatable = false;
    return found;
  }

  /// The run is the same one alone and behind all that came before it, and came out as `other`
  /// behind those that came later: one of these has left something. That one is what is told.
  FoundFailure tell_later_run(std::size_t index, const Fingerprint& other) const {
    const CheckedRun& run = checked_[index];
    const std::size_t end = std::min(checked_.size(), index + 1 + kLaterRunsTried);
    for (std::size_t later = index + 1; later < end; ++later) {
      const auto there = twin({}).results_of({twin_run(checked_[later]), twin_run(run)});
      if (there.size() < 2 || there[1] == print_of(run.result)) continue;
      return by_others(tell(run, checked_[later], {}, there[1],
                            fmt::format("state leaks between runs: run {} is another one when run "
                                        "{} has been made before it",
                                        run.run + 1, checked_[later].run + 1)));
    }
    return by_others(tell(run, checked_.back(), kAll, other,
                          fmt::format("state leaks between runs: run {} is another one when later "
                                      "ones have been made before it",
                                      run.run + 1)));
  }

  std::optional<Fingerprint> result_in(const Circumstances& circumstances,
                                       const CheckedRun& run) const {
    const std::vector<Fingerprint> there = twin(circumstances).results_of({twin_run(run)});
    FERMATA_ASSERT(there.size() <= 1);
    return there.empty() ? std::nullopt : std::optional(there.front());
  }

  FoundFailure tell(const CheckedRun& run, const Circumstances& circumstances,
                    const std::optional<Fingerprint>& there) const {
    return tell(
        run, run, circumstances, there,
        fmt::format("the same seed gave another run in another process{}", circumstances.text()));
  }

  /// `run` differs, and the exploration has to come as far as `last` to see that.
  FoundFailure tell(const CheckedRun& run, const CheckedRun& last,
                    const Circumstances& circumstances, const std::optional<Fingerprint>& there,
                    std::string message) const {
    FERMATA_ASSERT(last.run >= run.run);
    Runner runner(program_, run.strategy, world_options());
    Failure failure;
    failure.verdict = Verdict::Nondeterminism;
    failure.message = std::move(message);
    failure.at = run.result.end;
    failure.step = run.result.steps;
    failure.explanation = fmt::format("first:  {}\nsecond: {}\n", print_of(run.result).text(),
                                      there ? there->text() : "the process gave no answer");
    if (there) failure.explanation += difference(run, runner, circumstances);
    runner.set_recording(true);
    const RunResult again = runner.run(run.seed);
    FoundFailure found = describe_failure(runner, program_, std::move(failure), again,
                                          settings_tape(explore_, run.strategy, run.seed));
    found.run = last.run;
    return found;
  }

  std::string difference(const CheckedRun& run, Runner& runner,
                         const Circumstances& circumstances) const {
    const Twin other = twin(circumstances);
    const std::uint64_t step =
        first_difference(runner.steps_of(run.seed, false), other.steps_of(twin_run(run)));
    if (step == 0) return "no step differs when both are run again\n";
    return difference_text(step, runner.account_of(run.seed, false, step),
                           other.account_of(twin_run(run), step));
  }

  WorldOptions world_options() const {
    WorldOptions world = explore_.world;
    world.faults = FaultSet::parse(explore_.faults);
    return world;
  }

  const Program& program_;
  const ExploreOptions& explore_;
  const std::vector<CheckedRun>& checked_;
  const Options& options_;
};

}  // namespace

std::optional<FoundFailure> find_other_twin(const Program& program, const ExploreOptions& explore,
                                            const ExploreResult& result, const Options& options) {
  return TwinCheck(program, explore, result, options).find();
}

}  // namespace fermata::sim::detail
