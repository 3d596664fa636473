// SPDX-License-Identifier: Apache-2.0

// Programs with which a law has found a mistake in the runtime, or has raised a false alarm, as
// small as they were shrunk; and runs in which one did so, by their seeds.

#include <gtest/gtest.h>

#include "properties/laws/holds.hpp"
#include "properties/program/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

::testing::AssertionResult is_sound(const Program& program) {
  constexpr std::uint64_t kSchedules = 20;
  return has_no_failure(exploration_of(seeded(program_scenarios(rc::gen::just(program)))),
                        kSchedules);
}

// A multishot timer that is started again in its own pass: the waiter whose turn comes later gave
// back that start instead of its own, which the fire had made void.
TEST(FoundPrograms, TimerStartedInItsOwnPassStaysStarted) {
  FERMATA_CHECKS("CORE-EV-02", "CORE-WK-06");
  Program program;
  program.events = {ProgramEvent::Multishot};
  program.bodies = {{{Op::Subscribe, 0, 0}, {Op::Spawn, 0, 0}}, {{Op::Wait, 0, 0}}};
  program.callbacks = {{{Op::Start, 0, 0}}};
  EXPECT_TRUE(is_sound(program));
}

// A coroutine that cancels itself and then enters a protected region was told inside of it.
TEST(FoundPrograms, ProtectedRegionKeepsAnEarlierCancellationOut) {
  FERMATA_CHECKS("CORE-CO-06", "CORE-CO-14");
  Program program;
  program.events = {ProgramEvent::Promise};
  program.bodies = {
      {{Op::Spawn, 0, 0}},
      {{Op::Cancel, 0, 0}, {Op::Protect, 0, 1}, {Op::Suspend, 0, 0}, {Op::Suspend, 0, 0}}};
  program.callbacks = {{}};
  EXPECT_TRUE(is_sound(program));
}

// A false alarm: the subscriber that a closed event tells at once had been taken for the waiter
// that its step answers, which leaves the event out of turn.
TEST(FoundPrograms, AWaiterIsAnsweredByASubscriberThatIsToldAtOnce) {
  FERMATA_CHECKS("CORE-CB-11", "CORE-EV-08");
  Program program;
  program.events = {ProgramEvent::Signal, ProgramEvent::Promise};
  program.bodies = {{{Op::Spawn, 0, 0},
                     {Op::Subscribe, 1, 1},
                     {Op::Suspend, 0, 0},
                     {Op::Subscribe, 1, 0},
                     {Op::Subscribe, 1, 0},
                     {Op::Close, 1, 0}},
                    {{Op::Wait, 0, 6}}};
  program.callbacks = {{}, {{Op::Subscribe, 1, 2}}, {{Op::Cancel, 0, 0}}};
  EXPECT_TRUE(is_sound(program));
  EXPECT_TRUE(holds_in_run(kCallbackDeletion, "pct:3:k=118", 0x604a368ad55185c6));
}

// Directories in a list of a directory that was dropped meanwhile were watched, and nobody watched
// what they were in.
TEST(FoundPrograms, NoPlaceIsWatchedBelowOneThatIsNot) {
  FERMATA_CHECKS("FS-05");
  EXPECT_TRUE(holds_in_run(kWatches, "random", 0x9e9ab570d26ca6f1));
}

}  // namespace
}  // namespace fermata::properties
