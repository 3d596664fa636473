// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/explore.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/audit_choice.hpp"
#include "fermata/sim/run/run_sums.hpp"
#include "fermata/sim/world/world_access.hpp"

namespace fermata::sim {
namespace {

class Exploration {
 public:
  Exploration(const ExploreOptions& options, const Program& program)
      : options_(options),
        program_(program),
        world_options_(with_faults(options)),
        runner_(program, options.strategy, world_options_),
        enumerates_(runner_.enumerates()) {
    runner_.set_listener(options.listener);
  }

  ExploreResult explore() {
    std::uint64_t end = options_.first_run + options_.runs;
    if (enumerates_ && options_.first_run > 0) end = 0;
    for (std::uint64_t run = options_.first_run; run < end && !runner_.is_exhausted(); ++run) {
      if (options_.on_run && !options_.on_run(run, result_)) break;
      explore_one(run);
      if (result_.found && !options_.keep_going) break;
    }
    result_.coverage = runner_.coverage();
    result_.shares = runner_.shares();
    result_.catalogue = Catalogue::of_program(runner_.assertion_counts());
    return std::move(result_);
  }

 private:
  static WorldOptions with_faults(const ExploreOptions& options) {
    WorldOptions world = options.world;
    world.faults = FaultSet::parse(options.faults);
    return world;
  }

  void explore_one(std::uint64_t run) {
    FERMATA_ASSERT(run >= options_.first_run);
    const std::uint64_t seed = enumerates_ ? options_.seed : run_seed(options_.seed, run);
    const bool is_checked =
        options_.check_determinism != 0 && run % options_.check_determinism == 0;
    RunResult one = may_sample(seed) && !is_checked ? runner_.run_sampled(seed) : runner_.run(seed);
    const std::uint64_t known = result_.distinct_runs;
    add_run(result_, one, run, runner_.world());
    const bool is_new = result_.distinct_runs != known;
    if (is_new && runner_.was_sampled() && AuditChoice::is_news(result_.behaviours, result_.runs)) {
      one = runner_.audit(seed);
    }
    std::optional<Failure> failure = one.failure;
    if (is_checked) {
      ++result_.determinism_checks;
      auto mismatch = runner_.twin(seed, one);
      if (!mismatch && options_.second_lives) mismatch = runner_.second_life(seed, one);
      if (mismatch) {
        failure = std::move(mismatch);
      } else if (options_.keep_checked) {
        result_.checked.push_back(
            CheckedRun{.run = run, .seed = seed, .strategy = runner_.strategy(), .result = one});
      }
    }
    const bool failed = failure.has_value();
    if (failed) keep(std::move(*failure), one, seed, run);
    runner_.learn(is_new, failed);
  }

  [[nodiscard]] bool may_sample(std::uint64_t seed) const {
    return options_.adaptive_audit && AuditChoice::may_sample(result_.runs, seed);
  }

  /// Keeps the shortest run of each signature.
  void keep(Failure failure, const RunResult& one, std::uint64_t seed, std::uint64_t run) {
    ++result_.failures;
    if (failure.by_limit) ++result_.limit_stops;
    const std::string signature = failure.signature();
    const auto known = std::find(signatures_.begin(), signatures_.end(), signature);
    FoundFailure* kept = known == signatures_.end() ? nullptr : &kept_at(known);
    if (kept != nullptr && kept->steps <= one.steps) return;
    FoundFailure found = look_closely(std::move(failure), one, seed, run);
    if (kept != nullptr) {
      *kept = std::move(found);
      return;
    }
    signatures_.push_back(signature);
    if (!result_.found) {
      result_.found = std::move(found);
    } else {
      result_.others.push_back(std::move(found));
    }
    FERMATA_ASSERT(signatures_.size() == result_.others.size() + 1);
  }

  FoundFailure& kept_at(std::vector<std::string>::iterator signature) {
    FERMATA_ASSERT(result_.found.has_value());
    if (signature == signatures_.begin()) return *result_.found;
    return result_.others[static_cast<std::size_t>(signature - signatures_.begin()) - 1];
  }

  /// Runs the failing one again, for its names and steps.
  FoundFailure look_closely(Failure failure, const RunResult& one, std::uint64_t seed,
                            std::uint64_t run) {
    runner_.set_recording(true);
    const RunResult again = runner_.run(seed);
    runner_.set_recording(false);
    const bool repeatable = again.same_run(one);
    if (failure.verdict != Verdict::Nondeterminism && !repeatable) {
      failure.explanation = fmt::format("first:  {} steps, {}\nsecond: {} steps, {}\n", one.steps,
                                        one.signature(), again.steps, again.signature());
      failure.verdict = Verdict::Nondeterminism;
      failure.message = detail::kStateLeaks;
    }
    if (repeatable && again.failure && failure.verdict == again.failure->verdict) {
      failure = *again.failure;  // The same, explained better.
    }
    FoundFailure found = describe_failure(runner_, program_, std::move(failure), again,
                                          settings_tape(options_, runner_.strategy(), seed));
    found.run = run;
    found.repeatable = repeatable;
    return found;
  }

  const ExploreOptions& options_;
  const Program& program_;
  WorldOptions world_options_;
  Runner runner_;
  bool enumerates_;
  ExploreResult result_;
  std::vector<std::string> signatures_;  // Of result_.found, then of the others.
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

std::optional<FoundFailure> replay_closely(const Program& program, const WorldOptions& options,
                                           const Tape& tape) {
  Runner runner(program, "calm", options);
  runner.set_recording(true);
  Replay replay(tape.decisions, tape.draws, tape.names, ReplayMode::Best);
  RunResult result = runner.replay(Preparation{tape.seed, tape.rapidcheck}, replay);
  if (!result.failure) return std::nullopt;
  Failure failure = std::move(*result.failure);
  return describe_failure(runner, program, std::move(failure), result, tape);
}

Tape settings_tape(const ExploreOptions& options, std::string strategy, std::uint64_t seed) {
  FERMATA_ASSERT(!strategy.empty());
  Tape tape;
  tape.test = options.name;
  tape.seed = seed;
  tape.strategy = std::move(strategy);
  tape.faults = options.faults;
  tape.limits = options.world.limits();
  return tape;
}

FoundFailure describe_failure(const Runner& runner, const Program& program, Failure failure,
                              const RunResult& result, Tape tape) {
  const Decisions& decisions = runner.decisions();
  if (program.rapidcheck) tape.rapidcheck = program.rapidcheck();
  tape.signature = failure.signature();
  tape.trace_hash = result.trace_hash;
  tape.draws = result.draws;
  const auto recorded = decisions.log().recorded();
  tape.decisions.assign(recorded.begin(), recorded.end());
  set_names(tape, decisions.names().all(), decisions.names().origins());

  FERMATA_ASSERT(tape.decisions.size() <= tape.draws);
  FoundFailure found;
  found.failure = std::move(failure);
  found.tape = std::move(tape);
  found.steps = result.steps;
  found.end = result.end;
  found.faults = runner.world().faults();
  found.output = runner.output();
  for (const std::string& line : runner.world().log()) found.output += line + '\n';
  if (program.arguments) found.arguments = program.arguments();
  const detail::WorldAccess world(runner.world());
  found.step_hashes = world.step_hashes();
  found.run_log = runner.run_log();
  found.histories = world.histories();
  return found;
}

}  // namespace fermata::sim
