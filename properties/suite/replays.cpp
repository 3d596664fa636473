// SPDX-License-Identifier: Apache-2.0
#include "properties/suite/replays.hpp"

#include <fmt/format.h>

#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/tape/replay.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata::properties::suite {
namespace {

std::string told(const sim::RunResult& run) {
  return fmt::format("{} steps, {} draws, trace hash {:016x}", run.steps, run.draws,
                     run.trace_hash);
}

/// A report says of each decision in a sentence what it does, or leaves it out.
std::string untold_decision(const sim::Tape& tape) {
  for (const sim::Decision& decision : tape.decisions) {
    const std::string words = describe(decision, tape.names);
    const bool is_told = decision.is_pick ? tape.names.contains(decision.subject) &&
                                                tape.names.contains(decision.value)
                                          : tape.names.contains(decision.key);
    const bool is_plain =
        words.find("0x") == std::string::npos && words.find("below") == std::string::npos;
    if (!is_told || !is_plain) {
      return fmt::format("decision {} of a tape has no sentence: '{}'", decision.index, words);
    }
  }
  return {};
}

}  // namespace

std::string replay_difference(const sim::ExploreOptions& options, const sim::Program& program,
                              const sim::CheckedRun& run) {
  sim::WorldOptions world = options.world;
  world.faults = sim::FaultSet::parse(options.faults);

  sim::Runner recorder(program, run.strategy, world);
  recorder.set_recording(true);
  const sim::RunResult recorded = recorder.run(run.seed);
  if (!recorded.same_run(run.result)) {
    return fmt::format("a run that is recorded is another one: {}, not {}", told(recorded),
                       told(run.result));
  }
  const std::string text = to_text(describe_failure(recorder, program, {}, recorded,
                                                    settings_tape(options, run.strategy, run.seed))
                                       .tape);
  const sim::Tape tape = sim::parse_tape(text, "tape of the suite");
  if (to_text(tape) != text) return "a tape that was read is written in another way:\n" + text;
  if (std::string untold = untold_decision(tape); !untold.empty()) return untold;

  for (const sim::ReplayMode mode : {sim::ReplayMode::Strict, sim::ReplayMode::Best}) {
    sim::Runner player(program, "calm", world);
    player.set_recording(true);
    sim::Replay replay(tape.decisions, tape.draws, tape.names, mode);
    const sim::RunResult replayed = player.replay({tape.seed, tape.rapidcheck}, replay);
    if (replay.divergence()) return replay.divergence()->text();
    if (!replayed.same_run(recorded)) {
      return fmt::format("the replay of a tape is another run: {}, not {}; {}", told(replayed),
                         told(recorded), replay.summary());
    }
  }
  return {};
}

}  // namespace fermata::properties::suite
