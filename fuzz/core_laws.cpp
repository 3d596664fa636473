// SPDX-License-Identifier: Apache-2.0

// The four laws of the core, for programs that are drawn as the schedule is: references are
// counted, callbacks may go while they are called, a shutdown ends everything, deadlocks are told
// and nothing else is.

#include <array>
#include <cstdio>
#include <fermata/sim.hpp>
#include <string>

#include "fuzz/drawn_program.hpp"
#include "properties/laws/law.hpp"

namespace fermata::fuzz {
namespace {

using properties::Law;

constexpr std::array<const Law*, 4> kLaws = {
    &properties::kReferenceCounts, &properties::kCallbackDeletion, &properties::kGracefulShutdown,
    &properties::kDeadlock};

SIM_TEST(CoreLaws, HoldForEveryProgram) {
  static properties::Machine machine;
  Chooser& chooser = *current_runtime().kernel().chooser;
  const std::uint64_t number = chooser.draw(Stream::Workload, sim::key_of("law"), kLaws.size());
  const properties::Program program = drawn_program(chooser, kLaws[number]->profile);
  properties::play(machine, program, world);
  if (!world.failure()) return;
  const std::string text = to_text(program);
  std::printf("%.*s\n%s", static_cast<int>(kLaws[number]->sentence.size()),
              kLaws[number]->sentence.data(), text.c_str());
}

}  // namespace
}  // namespace fermata::fuzz
