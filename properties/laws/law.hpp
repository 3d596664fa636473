// SPDX-License-Identifier: Apache-2.0
#pragma once

// A law: what holds for every script of a kind, under every schedule. A law says how its scripts
// are made and what playing one means; the rest is written once for all laws.

#include <rapidcheck.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "fermata/sim/run/runner.hpp"

namespace fermata::properties {

/// What a script did in a runtime of its own, inside the run that played it.
struct Tally {
  std::uint64_t steps = 0;
  std::uint64_t coroutines = 0;
  std::uint64_t deadlocks = 0;
  std::uint64_t shutdowns = 0;

  Tally& operator+=(const Tally& other) noexcept;
};

/// A script of some law, ready to be played any number of times.
struct Scenario {
  /// Plays it inside the node of a world; what is wrong fails the world's run.
  std::function<Tally(sim::World&)> play;
  std::function<std::string()> text = [] { return std::string(); };
};
std::ostream& operator<<(std::ostream& out, const Scenario& scenario);

struct Law {
  std::string_view name;
  std::string_view sentence;
  /// The ids in tests/invariants.tsv that its tests check.
  std::initializer_list<const char*> invariants;
  /// How scripts are made; null when `from_seed` makes them.
  rc::Gen<Scenario> (*scenarios)() = nullptr;
  /// The script that a seed stands for, where RapidCheck has no part in it.
  Scenario (*from_seed)(std::uint64_t seed) = nullptr;
};

// About programs for the runtime itself.
extern const Law kReferenceCounts;
extern const Law kCallbackDeletion;
extern const Law kGracefulShutdown;
extern const Law kDeadlock;
extern const Law kWakers;
extern const Law kLifecycle;
extern const Law kTimers;

// About one primitive, used by several actors.
extern const Law kAwaitFamily;
extern const Law kChannels;
extern const Law kContexts;
extern const Law kCrashes;
extern const Law kDatabases;
extern const Law kDatagrams;
extern const Law kDescriptors;
extern const Law kFiles;
extern const Law kFutures;
extern const Law kIteration;
extern const Law kLimits;
extern const Law kLocks;
extern const Law kNames;
extern const Law kOffload;
extern const Law kPolls;
extern const Law kPools;
extern const Law kProcesses;
extern const Law kRecovery;
extern const Law kRemotePromises;
extern const Law kScopes;
extern const Law kSelects;
extern const Law kSpawns;
extern const Law kStreams;
extern const Law kTaskGroups;
extern const Law kThreadChannels;
extern const Law kThreadPools;
extern const Law kThreads;
extern const Law kTriggers;
extern const Law kWaitLines;
extern const Law kWatches;
extern const Law kWiredDatabases;

// About somebody who comes after one who was interrupted.
extern const Law kSweeps;

// About a loop of callbacks, and about coroutines that have nothing to do with each other.
extern const Law kLoopModel;
extern const Law kLoopLedger;
extern const Law kChoiceIndependence;

// About what is told of a run.
extern const Law kExplanations;
extern const Law kHistories;

[[nodiscard]] std::span<const Law* const> laws();
/// Null when there is none of that name.
[[nodiscard]] const Law* find_law(std::string_view name);

/// The scenario that `seed` stands for, with all that is smaller; the same with every compiler.
using SeededScenarios = std::function<rc::Shrinkable<Scenario>(std::uint64_t seed)>;
[[nodiscard]] SeededScenarios seeded(rc::Gen<Scenario> scenarios);
[[nodiscard]] SeededScenarios seeded(const Law& law);

/// Scenarios as something to explore: another one for each seed. `total`, unless null, adds up
/// what they do.
[[nodiscard]] sim::Program exploration_of(SeededScenarios scenarios, Tally* total = nullptr);
[[nodiscard]] sim::Program exploration_of(const Law& law, Tally* total = nullptr);

/// The smallest script that RapidCheck finds, below the one `seed` stands for, which breaks the
/// same rule of `law` under one of a few schedules of `strategy`; as text, with what it breaks.
/// Empty when the script does not fail here.
[[nodiscard]] std::string shrunk(const Law& law, std::string_view strategy, std::uint64_t seed);

}  // namespace fermata::properties
