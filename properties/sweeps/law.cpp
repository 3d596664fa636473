// SPDX-License-Identifier: Apache-2.0

#include "properties/laws/law.hpp"
#include "properties/scripts/step.hpp"
#include "properties/sweeps/programs.hpp"

namespace fermata::properties {
namespace {

/// One of the programs: all of it, under one schedule.
rc::Gen<Scenario> sweep_of_one() {
  return rc::gen::map(number_below(sweeps::kPrograms.size()), [](unsigned number) {
    const sweeps::Program& program = sweeps::kPrograms[number];
    const auto play = [&program](sim::World& world) {
      program.body(world);
      return Tally{};
    };
    return Scenario{play, [&program] { return "sweep over a " + std::string(program.name); }};
  });
}

}  // namespace

constinit const Law kSweeps = {
    "sweeps",
    "whoever is interrupted, and wherever, leaves nothing amiss for those who come next",
    {"CHAN-09", "CORE-CN-03", "CORE-CN-08", "CORE-IT-10", "CORE-WK-13", "DB-05", "DB-06", "DB-13",
     "G-03", "G-04", "G-05", "IO-02", "POOL-03", "POOL-04", "TG-15", "THR-03"},
    &sweep_of_one};

}  // namespace fermata::properties
