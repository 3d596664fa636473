// SPDX-License-Identifier: Apache-2.0
#pragma once

// A law over one primitive: what holds for every script under every schedule.

#include <memory>
#include <span>
#include <string_view>

#include "fermata/sim/run/runner.hpp"
#include "properties/scripts/play.hpp"
#include "properties/scripts/script.hpp"

namespace fermata::properties::scripts {

struct Law {
  std::string_view name;
  std::string_view sentence;
  std::span<const Operation> operations;
  std::unique_ptr<Subject> (*make)(Stage& stage);
};

extern const Law kAwaitFamily;
extern const Law kChannels;
extern const Law kCrashes;
extern const Law kDatabases;
extern const Law kDatagrams;
extern const Law kDescriptors;
extern const Law kFiles;
extern const Law kFutures;
extern const Law kIteration;
extern const Law kLocks;
extern const Law kNames;
extern const Law kOffload;
extern const Law kPolls;
extern const Law kPools;
extern const Law kProcesses;
extern const Law kRecovery;
extern const Law kScopes;
extern const Law kStreams;
extern const Law kTaskGroups;
extern const Law kThreadChannels;
extern const Law kThreadPools;
extern const Law kThreads;
extern const Law kTriggers;
extern const Law kWaitLines;
extern const Law kWatches;

[[nodiscard]] std::span<const Law* const> laws();

/// Runs `script` inside the node of a world.
void play(const Law& law, const Script& script, sim::World& world);

/// The law as something to explore: another script for each seed.
[[nodiscard]] sim::Program exploration_of(const Law& law);

/// Makes a subject of a type.
template <class S>
std::unique_ptr<Subject> make_subject(Stage& stage) {
  return std::make_unique<S>(stage);
}

/// An argument for SIM_PROPERTY.
template <const Law& law>
struct ScriptOf : Script {};

template <const Law& law>
std::ostream& operator<<(std::ostream& out, const ScriptOf<law>& script) {
  return out << "\n" << to_text(script, law.operations);
}

}  // namespace fermata::properties::scripts

template <const fermata::properties::scripts::Law& law>
struct rc::Arbitrary<fermata::properties::scripts::ScriptOf<law>> {
  static rc::Gen<fermata::properties::scripts::ScriptOf<law>> arbitrary() {
    return rc::gen::map(fermata::properties::scripts::scripts(law.operations),
                        [](fermata::properties::scripts::Script script) {
                          return fermata::properties::scripts::ScriptOf<law>{std::move(script)};
                        });
  }
};
