// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/twin_check.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
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

  std::optional<FoundFailure> compare(const Circumstances& circumstances) const {
    std::vector<TwinRun> runs;
    for (const CheckedRun& run : checked_) runs.push_back(twin_run(run));
    const std::vector<Fingerprint> there = twin(circumstances).results_of(runs);
    FERMATA_ASSERT(there.size() <= checked_.size());
    for (std::size_t i = 0; i < checked_.size(); ++i) {
      if (i == there.size()) return tell(checked_[i], circumstances, std::nullopt);
      if (there[i] == print_of(checked_[i].result)) continue;
      const bool by_build = !circumstances.program.empty();
      return by_build ? tell(checked_[i], circumstances, there[i]) : tell_cause(checked_[i]);
    }
    return std::nullopt;
  }

  /// With as little changed as makes it another run. What is another one already in a process with
  /// nothing changed, and the same there whatever is, depends on what earlier runs have left.
  FoundFailure tell_cause(const CheckedRun& run) const {
    const auto plain = result_in({}, run);
    for (const Circumstances& one : kEach) {
      const auto there = result_in(one, run);
      if (there != plain) return tell(run, one, there);
    }
    const bool by_process = plain != print_of(run.result);
    return by_process ? tell(run, {}, plain) : tell(run, kAll, result_in(kAll, run));
  }

  std::optional<Fingerprint> result_in(const Circumstances& circumstances,
                                       const CheckedRun& run) const {
    const std::vector<Fingerprint> there = twin(circumstances).results_of({twin_run(run)});
    FERMATA_ASSERT(there.size() <= 1);
    return there.empty() ? std::nullopt : std::optional(there.front());
  }

  FoundFailure tell(const CheckedRun& run, const Circumstances& circumstances,
                    const std::optional<Fingerprint>& there) const {
    Runner runner(program_, run.strategy, world_options());
    Failure failure;
    failure.verdict = Verdict::Nondeterminism;
    failure.message =
        fmt::format("the same seed gave another run in another process{}", circumstances.text());
    failure.at = run.result.end;
    failure.step = run.result.steps;
    failure.explanation = fmt::format("first:  {}\nsecond: {}\n", print_of(run.result).text(),
                                      there ? there->text() : "the process gave no answer");
    if (there) failure.explanation += difference(run, runner, circumstances);
    runner.set_recording(true);
    const RunResult again = runner.run(run.seed);
    FoundFailure found = describe_failure(runner, program_, std::move(failure), again,
                                          settings_tape(explore_, run.strategy, run.seed));
    found.run = run.run;
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
