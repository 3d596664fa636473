// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/law.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <utility>

namespace fermata::properties {

Tally& Tally::operator+=(const Tally& other) noexcept {
  steps += other.steps;
  coroutines += other.coroutines;
  deadlocks += other.deadlocks;
  shutdowns += other.shutdowns;
  return *this;
}

std::ostream& operator<<(std::ostream& out, const Scenario& scenario) {
  return out << "\n" << scenario.text();
}

std::span<const Law* const> laws() {
  static constexpr std::array kAll = {&kReferenceCounts,
                                      &kCallbackDeletion,
                                      &kGracefulShutdown,
                                      &kDeadlock,
                                      &kWakers,
                                      &kLifecycle,
                                      &kTimers,
                                      &kAwaitFamily,
                                      &kChannels,
                                      &kContexts,
                                      &kCrashes,
                                      &kDatabases,
                                      &kDatagrams,
                                      &kDescriptors,
                                      &kFiles,
                                      &kFutures,
                                      &kIteration,
                                      &kLimits,
                                      &kLocks,
                                      &kNames,
                                      &kOffload,
                                      &kPolls,
                                      &kPools,
                                      &kProcesses,
                                      &kRecovery,
                                      &kRemotePromises,
                                      &kScopes,
                                      &kSpawns,
                                      &kStreams,
                                      &kSelects,
                                      &kSweeps,
                                      &kTaskGroups,
                                      &kThreadChannels,
                                      &kThreadPools,
                                      &kThreads,
                                      &kTriggers,
                                      &kWaitLines,
                                      &kWatches,
                                      &kWiredDatabases,
                                      &kLoopModel,
                                      &kLoopLedger,
                                      &kChoiceIndependence,
                                      &kExplanations,
                                      &kHistories};
  return kAll;
}

const Law* find_law(std::string_view name) {
  const auto all = laws();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Law* law) { return law->name == name; });
  return found == all.end() ? nullptr : *found;
}

SeededScenarios seeded(rc::Gen<Scenario> scenarios) {
  constexpr int kSize = 100;
  return [scenarios = std::move(scenarios)](std::uint64_t seed) {
    return scenarios(rc::Random(seed), kSize);
  };
}

SeededScenarios seeded(const Law& law) {
  if (law.from_seed == nullptr) return seeded(law.scenarios());
  return [make = law.from_seed](std::uint64_t seed) { return rc::shrinkable::just(make(seed)); };
}

sim::Program exploration_of(SeededScenarios scenarios, Tally* total) {
  const auto scenario = std::make_shared<Scenario>();
  sim::Program exploration;
  exploration.prepare = [scenario,
                         scenarios = std::move(scenarios)](const sim::Preparation& preparation) {
    *scenario = scenarios(preparation.seed).value();
  };
  exploration.body = [scenario, total](sim::World& world) {
    const Tally tally = scenario->play(world);
    if (total != nullptr) *total += tally;
  };
  exploration.arguments = [scenario] { return scenario->text(); };
  return exploration;
}

sim::Program exploration_of(const Law& law, Tally* total) {
  return exploration_of(seeded(law), total);
}

}  // namespace fermata::properties
