// SPDX-License-Identifier: Apache-2.0
#pragma once

// A law: what holds for every program of a profile under every schedule. All laws run on the same
// interpreter and check everything it knows; their profiles say what the programs are about.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "fermata/sim/run/runner.hpp"
#include "properties/interpreter/machine.hpp"
#include "properties/program/generate.hpp"

namespace fermata::properties {

struct Law {
  std::string_view name;
  std::string_view sentence;
  Profile profile;
};

extern const Law kReferenceCounts;
extern const Law kCallbackDeletion;
extern const Law kGracefulShutdown;
extern const Law kDeadlock;
extern const Law kWakers;
extern const Law kLifecycle;
extern const Law kTimers;

[[nodiscard]] std::span<const Law* const> laws();

/// Runs `program` inside the node of a world: what is wrong with it fails the world's run, and its
/// trace and its time become part of the run's.
void play(Machine& machine, const Program& program, sim::World& world);

/// What the runs of an exploration came to, in their arenas.
struct Totals {
  std::uint64_t steps = 0;
  std::uint64_t coroutines = 0;
  std::uint64_t deadlocks = 0;
  std::uint64_t shutdowns = 0;
};

/// The law as something to explore: another program for each seed.
[[nodiscard]] sim::Program exploration_of(const Law& law, Totals* totals = nullptr);

/// A program of bystanders, whose results no schedule changes (CORE-GL-12).
[[nodiscard]] sim::Program exploration_of_bystanders();

/// An argument for SIM_PROPERTY.
template <const Law& law>
struct ProgramOf : Program {};

}  // namespace fermata::properties

template <const fermata::properties::Law& law>
struct rc::Arbitrary<fermata::properties::ProgramOf<law>> {
  static rc::Gen<fermata::properties::ProgramOf<law>> arbitrary() {
    return rc::gen::map(fermata::properties::programs(law.profile),
                        [](fermata::properties::Program program) {
                          return fermata::properties::ProgramOf<law>{std::move(program)};
                        });
  }
};
