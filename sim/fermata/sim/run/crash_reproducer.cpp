// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/crash_reproducer.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/world_options.hpp"

namespace fermata::sim::detail {
namespace {

FoundFailure found_crash(Tape tape, Crash crash) {
  FoundFailure found;
  const std::string signature = crash.end.signature();
  FERMATA_ASSERT(is_crash(signature));
  found.failure.message = signature.substr(signature.find(": ") + 2);
  found.tape = std::move(tape);
  found.crash = std::move(crash);
  return found;
}

}  // namespace

std::chrono::milliseconds CrashReproducer::run_limit() const noexcept {
  constexpr std::chrono::milliseconds kWhenNobodyHasSaidSo(60'000);
  return options_.crash_limit.value_or(kWhenNobodyHasSaidSo);
}

std::optional<FoundFailure> CrashReproducer::find(ExploreOptions exploration) const {
  FERMATA_ASSERT(exploration.runs > 0);
  const std::uint64_t last = exploration.first_run + exploration.runs - 1;
  exploration.check_determinism = 0;
  // It has been seen to take longer; where there are runs before it, one of those may be slow.
  ForkedRuns runs(exploration.runs == 1 ? run_limit() / 2 : run_limit());
  ForkedRun run = runs.run([&](ForkListener& listener) {
    exploration.listener = &listener;
    static_cast<void>(explore(exploration, program_));
  });
  if (!run.crash.end.is_early() || run.too_many) return std::nullopt;
  Tape tape = settings_tape(exploration, exploration.strategy, run_seed(exploration.seed, last));
  if (program_.prepare) program_.prepare(Preparation{tape.seed, {}});
  if (program_.rapidcheck) tape.rapidcheck = program_.rapidcheck();
  tape.decisions = std::move(run.decisions);
  tape.draws = tape.decisions.empty() ? 0 : tape.decisions.back().index + 1;
  tape.signature = run.crash.end.signature();
  tape.names = replay_in_fork(runs, program_, world_options(options_, tape), tape, true).names;
  FoundFailure found = found_crash(std::move(tape), std::move(run.crash));
  found.run = last;
  return found;
}

FoundFailure CrashReproducer::find(const Tape& tape, const std::string& path) const {
  FERMATA_ASSERT(is_crash(tape.signature));
  ForkedRuns runs(run_limit());
  ForkedRun run = replay_in_fork(runs, program_, world_options(options_, tape), tape);
  const ProcessEnd& end = run.crash.end;
  if (!end.is_early() || end.signature() != tape.signature) {
    throw Error(fmt::format(
        "{}: expected '{}'; the run {}", path, tape.signature,
        end.is_early() ? "ended with '" + end.signature() + "'" : std::string("ended normally")));
  }
  return found_crash(tape, std::move(run.crash));
}

}  // namespace fermata::sim::detail
