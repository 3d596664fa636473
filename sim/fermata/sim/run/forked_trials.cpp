// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/forked_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/run/explore.hpp"

namespace fermata::sim::detail {
namespace {

using std::chrono::milliseconds;

/// A run of the search that takes longer is taken for one that hangs.
milliseconds trial_limit(ProcessEnd::Kind kind, milliseconds run_limit) {
  constexpr milliseconds kLeastOfHang(100);
  constexpr milliseconds kMostOfHang(500);
  constexpr milliseconds kMostOfCrash(2'000);
  if (kind != ProcessEnd::Kind::Hang) return std::min(kMostOfCrash, run_limit);
  return std::clamp(run_limit / 10, kLeastOfHang, kMostOfHang);
}

/// How long smaller runs are looked for, in real time.
milliseconds search_limit(ProcessEnd::Kind kind, milliseconds run_limit) {
  constexpr milliseconds kOfCrash(6'000);
  return kind == ProcessEnd::Kind::Hang ? run_limit * 3 / 4 : kOfCrash;
}

}  // namespace

ForkedRun replay_in_fork(ForkedRuns& runs, const Program& program, const WorldOptions& options,
                         const Tape& tape, bool naming) {
  return runs.run([&](ForkListener& listener) {
    Runner runner(program, "calm", options);
    runner.set_listener(&listener);
    if (naming) {
      runner.set_recording(true);
      listener.take_names(runner.decisions().names().all());
    }
    Replay replay(tape.decisions, 0, {}, ReplayMode::Best);
    static_cast<void>(runner.replay(Preparation{tape.seed, tape.rapidcheck}, replay));
  });
}

ForkedTrials::ForkedTrials(const Program& program, const WorldOptions& options,
                           const FoundFailure& found, milliseconds run_limit, Keep keep,
                           Bound bound)
    : program_(program),
      options_(options),
      tape_(found.tape),
      end_(found.crash->end),
      run_limit_(run_limit),
      trial_limit_(trial_limit(end_.kind, run_limit)),
      keep_(std::move(keep)),
      bound_(bound),
      runs_(trial_limit_) {
  FERMATA_ASSERT(end_.is_early());
  FERMATA_ASSERT(keep_ != nullptr);
}

Tape ForkedTrials::with(const std::vector<Decision>& decisions,
                        const std::string& rapidcheck) const {
  Tape tape;
  tape.seed = tape_.seed;
  tape.decisions = decisions;
  tape.rapidcheck = rapidcheck;
  return tape;
}

bool ForkedTrials::dies(const Tape& tape) {
  last_ = replay_in_fork(runs_, program_, options_, tape);
  return last_.crash.end == end_;
}

// A run that depends on more than its decisions, such as addresses, would be tried in vain.
bool ForkedTrials::comes_back_each_time() {
  FERMATA_ASSERT(deadline_ == Clock::time_point::max());
  if (!dies(tape_) || !dies(tape_)) return false;
  if (bound_ == Bound::Time) deadline_ = Clock::now() + search_limit(end_.kind, run_limit_);
  return true;
}

bool ForkedTrials::fails(const std::vector<Decision>& decisions, const std::string& rapidcheck) {
  out_of_time_ = out_of_time_ || Clock::now() >= deadline_;
  return !out_of_time_ && dies(with(decisions, rapidcheck));
}

std::vector<Decision> ForkedTrials::alternatives(const std::vector<Decision>& decisions,
                                                 const std::string& rapidcheck) {
  last_ = replay_in_fork(runs_, program_, options_, with(decisions, rapidcheck));
  if (last_.crash.end.is_early()) return {};
  Runner runner(program_, "calm", options_);
  runner.set_recording(true);
  Replay replay(decisions, 0, {}, ReplayMode::Best);
  static_cast<void>(runner.replay(Preparation{tape_.seed, rapidcheck}, replay));
  return runner.decisions().log().alternatives();
}

/// A run of the search was not waited for as long as one that hangs has to take.
bool ForkedTrials::still_hangs(const Tape& tape) {
  FERMATA_ASSERT(end_.kind == ProcessEnd::Kind::Hang);
  runs_.set_limit(run_limit_ / 2);
  const bool hangs = dies(tape);
  runs_.set_limit(trial_limit_);
  return hangs;
}

/// How many steps can be made before the one that ends the process. Nothing when the first one
/// does, or none.
std::optional<std::uint64_t> ForkedTrials::steps_alive(const Tape& tape) {
  const auto dies_in = [&](std::uint64_t steps) {
    WorldOptions options = options_;
    options.step_limit = steps;
    return replay_in_fork(runs_, program_, options, tape).crash.end.is_early();
  };
  std::uint64_t deadly = 1;
  for (; !dies_in(deadly); deadly *= 2) {
    if (deadly > options_.step_limit) return std::nullopt;
  }
  std::uint64_t alive = deadly / 2;
  while (deadly - alive > 1) {
    const std::uint64_t middle = alive + (deadly - alive) / 2;
    (dies_in(middle) ? deadly : alive) = middle;
  }
  FERMATA_ASSERT(alive < deadly);
  if (alive == 0) return std::nullopt;  // A limit of none would not keep the first from running.
  return alive;
}

std::optional<FoundFailure> ForkedTrials::look_closely(const Tape& tape) {
  if (end_.kind == ProcessEnd::Kind::Hang && !still_hangs(tape)) return std::nullopt;
  keep_(tape);
  Tape named = tape;
  named.names = replay_in_fork(runs_, program_, options_, tape, true).names;
  keep_(named);
  FoundFailure found;
  if (const std::optional<std::uint64_t> alive = steps_alive(named)) {
    WorldOptions until_then = options_;
    until_then.step_limit = *alive;
    if (auto before = replay_closely(program_, until_then, named)) found = std::move(*before);
  }
  named.origins = std::move(found.tape.origins);
  found.tape = std::move(named);
  return found;
}

}  // namespace fermata::sim::detail
