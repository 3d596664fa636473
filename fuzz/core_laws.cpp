// SPDX-License-Identifier: Apache-2.0

// The four laws of the core, for programs that are drawn as the schedule is: references are
// counted, callbacks may go while they are called, a shutdown ends everything, deadlocks are told
// and nothing else is.

#include <array>
#include <cstdio>
#include <fermata/sim.hpp>
#include <string>
#include <string_view>

#include "fuzz/drawn_program.hpp"
#include "properties/interpreter/machine.hpp"
#include "properties/program/law.hpp"

namespace fermata::fuzz {
namespace {

struct Kind {
  const properties::Law& law;
  const properties::Profile& profile;
};

constexpr std::array<Kind, 4> kKinds = {
    {{properties::kReferenceCounts, properties::kReferenceCountsProfile},
     {properties::kCallbackDeletion, properties::kCallbackDeletionProfile},
     {properties::kGracefulShutdown, properties::kGracefulShutdownProfile},
     {properties::kDeadlock, properties::kDeadlockProfile}}};

SIM_TEST(CoreLaws, HoldForEveryProgram) {
  static properties::Machine machine;
  backend::Chooser& chooser = *current_runtime().kernel().chooser;
  const std::uint64_t number = chooser.draw({.key = sim::key_of("law"), .bound = kKinds.size()});
  const properties::Program program = drawn_program(chooser, kKinds[number].profile);
  machine.play(program, world);
  if (!world.failure()) return;
  const std::string text = to_text(program);
  const std::string_view sentence = kKinds[number].law.sentence;
  std::printf("%.*s\n%s", static_cast<int>(sentence.size()), sentence.data(), text.c_str());
}

}  // namespace
}  // namespace fermata::fuzz
