// SPDX-License-Identifier: Apache-2.0
#pragma once

// Laws over programs for the runtime: all run on the same interpreter and check everything it
// knows; their profiles say what the programs are about.

#include "properties/laws/law.hpp"
#include "properties/program/program.hpp"
#include "properties/scripts/step.hpp"

namespace fermata::properties {

/// A weight is written as a factor: 10 * Op::Spawn.
constexpr Weight operator*(std::uint8_t weight, Op op) { return {op, weight}; }
constexpr Weight operator*(std::uint8_t weight, ProgramEvent event) { return {event, weight}; }

/// How often each step occurs.
struct Profile {
  Weights main;      // Weights of Op in the main coroutine, which spawns and stirs.
  Weights body;      // Weights of Op in spawned coroutines.
  Weights callback;  // Weights of Op in callbacks, finally handlers and microtasks.
  Weights events;    // Weights of ProgramEvent.
};

/// The steps that weights of Op give.
[[nodiscard]] Vocabulary program_steps(const Weights& ops);

/// Programs of 3 to 10 bodies.
[[nodiscard]] rc::Gen<Program> programs(const Profile& profile);

extern const Profile kReferenceCountsProfile;
extern const Profile kCallbackDeletionProfile;
extern const Profile kGracefulShutdownProfile;
extern const Profile kDeadlockProfile;
extern const Profile kWakersProfile;
extern const Profile kLifecycleProfile;
extern const Profile kTimersProfile;

/// The programs, each to be played on one machine.
[[nodiscard]] rc::Gen<Scenario> program_scenarios(const rc::Gen<Program>& programs);

template <const Profile& profile>
rc::Gen<Scenario> programs_about() {
  return program_scenarios(programs(profile));
}

}  // namespace fermata::properties
