// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/explore.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/sim/run/distinct.hpp"
#include "fermata/sim/run/seed.hpp"

namespace fermata::sim {
namespace {

class Exploration {
 public:
  Exploration(const ExploreOptions& options, const Program& program)
      : options_(options),
        program_(program),
        world_options_(with_faults(options)),
        runner_(program, options.strategy, world_options_) {}

  ExploreResult explore() {
    for (std::uint64_t run = 0; run < options_.runs && !result_.found; ++run) {
      if (options_.on_run) options_.on_run(run);
      explore_one(run);
    }
    result_.distinct_runs = distinct_.count();
    return std::move(result_);
  }

 private:
  static WorldOptions with_faults(const ExploreOptions& options) {
    WorldOptions world = options.world;
    world.faults = FaultSet::parse(options.faults);
    return world;
  }

  void explore_one(std::uint64_t run) {
    const std::uint64_t seed = run_seed(options_.seed, run);
    const RunResult one = runner_.run(seed);
    count(one);
    std::optional<Failure> failure = one.failure;
    if (options_.check_determinism != 0 && run % options_.check_determinism == 0) {
      ++result_.determinism_checks;
      if (auto mismatch = runner_.twin(seed, one)) failure = std::move(mismatch);
    }
    if (failure) {
      look_closely(std::move(*failure), one, seed, run);
    } else {
      runner_.learn();
    }
  }

  void count(const RunResult& one) {
    ++result_.runs;
    result_.steps += one.steps;
    result_.draws += one.draws;
    result_.virtual_time += one.end - Instant{};
    result_.trace_hash = key_of(result_.trace_hash, one.trace_hash);
    distinct_.add(one.trace_hash);
    const FaultCounts& faults = runner_.world().fault_counts();
    for (std::size_t i = 0; i < faults.size(); ++i) result_.fault_counts[i] += faults[i];
  }

  /// Runs the failing one again, for its names and steps.
  void look_closely(Failure failure, const RunResult& one, std::uint64_t seed, std::uint64_t run) {
    runner_.watch_closely(true);
    const RunResult again = runner_.run(seed);
    const bool repeatable = again.same_run(one);
    if (failure.verdict != Verdict::Nondeterminism && !repeatable) {
      failure.explanation = fmt::format("first:  {} steps, {}\nsecond: {} steps, {}\n", one.steps,
                                        one.signature(), again.steps, again.signature());
      failure.verdict = Verdict::Nondeterminism;
      failure.message = "state leaks between runs: the same seed, run again, gave another run";
    }
    result_.found =
        describe_failure(runner_, program_, std::move(failure), again, settings_of(seed));
    result_.found->run = run;
    result_.found->repeatable = repeatable;
  }

  Tape settings_of(std::uint64_t seed) const {
    Tape tape;
    tape.test = options_.name;
    tape.seed = seed;
    tape.strategy = runner_.strategy();
    tape.faults = options_.faults;
    tape.time_limit = options_.world.time_limit;
    tape.step_limit = options_.world.step_limit;
    tape.instant_limit = options_.world.instant_limit;
    return tape;
  }

  const ExploreOptions& options_;
  const Program& program_;
  WorldOptions world_options_;
  Runner runner_;
  detail::Distinct distinct_;
  ExploreResult result_;
};

}  // namespace

ExploreResult explore(const ExploreOptions& options, const Program& program) {
  return Exploration(options, program).explore();
}

ExploreResult explore(const ExploreOptions& options, std::function<void(World& world)> body) {
  Program program;
  program.body = std::move(body);
  return explore(options, program);
}

FoundFailure describe_failure(const Runner& runner, const Program& program, Failure failure,
                              const RunResult& result, Tape tape) {
  const Decisions& decisions = runner.decisions();
  if (program.rapidcheck) tape.rapidcheck = program.rapidcheck();
  tape.signature = failure.signature();
  tape.trace_hash = result.trace_hash;
  tape.draws = result.draws;
  tape.decisions.assign(decisions.recorded().begin(), decisions.recorded().end());
  tape.names = decisions.names();

  FoundFailure found;
  found.failure = std::move(failure);
  found.tape = std::move(tape);
  found.steps = result.steps;
  found.end = result.end;
  found.faults = runner.world().faults();
  found.output = runner.output();
  for (const std::string& line : runner.world().log()) found.output += line + '\n';
  if (program.arguments) found.arguments = program.arguments();
  found.step_hashes = runner.world().step_hashes();
  return found;
}

}  // namespace fermata::sim
