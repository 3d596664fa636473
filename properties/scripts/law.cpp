// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/law.hpp"

#include <array>

namespace fermata::properties::scripts {

std::span<const Law* const> laws() {
  static const std::array all = {
      &kAwaitFamily, &kChannels, &kCrashes,  &kDatabases,  &kDatagrams,
      &kDescriptors, &kFiles,    &kFutures,  &kIteration,  &kLocks,
      &kNames,       &kOffload,  &kPolls,    &kPools,      &kProcesses,
      &kRecovery,    &kScopes,   &kStreams,  &kTaskGroups, &kThreadChannels,
      &kThreadPools, &kThreads,  &kTriggers, &kWaitLines,  &kWatches};
  return all;
}

namespace {

struct Run {
  Run(const Law& law, const Script& script, sim::World& world)
      : stage(script, world), subject(law.make(stage)) {}
  Stage stage;
  std::unique_ptr<Subject> subject;
};

}  // namespace

void play(const Law& law, const Script& script, sim::World& world) {
  const auto run = std::make_shared<Run>(law, script, world);
  run->stage.play(*run->subject, run);
}

sim::Program exploration_of(const Law& law) {
  const auto script = std::make_shared<Script>();
  sim::Program exploration;
  exploration.prepare = [script, &law](const sim::Preparation& preparation) {
    *script = shrinkable_script(law.operations, preparation.seed).value();
  };
  exploration.body = [script, &law](sim::World& world) { play(law, *script, world); };
  exploration.arguments = [script, &law] { return to_text(*script, law.operations); };
  return exploration;
}

}  // namespace fermata::properties::scripts
