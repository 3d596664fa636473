// SPDX-License-Identifier: Apache-2.0

// Programs with which a law has found a mistake in the runtime, or has raised a false alarm, as
// small as they were shrunk; and runs in which one did so, by their seeds.

#include <gtest/gtest.h>

#include "properties/laws/expect_law.hpp"
#include "properties/laws/shrink.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

void expect_sound(const Program& program) {
  for (const char* strategy : {"fifo", "random", "pct:3"}) {
    EXPECT_EQ(first_complaint(program, strategy, 1), "") << strategy << program;
  }
}

// A multishot timer that is started again in its own pass: the waiter whose turn comes later gave
// back that start instead of its own, which the fire had made void.
TEST(FoundPrograms, TimerStartedInItsOwnPassStaysStarted) {
  FERMATA_CHECKS("CORE-EV-02", "CORE-WK-06");
  Program program;
  program.events = {Subject::Multishot};
  program.bodies = {{{Op::Subscribe, 0, 0}, {Op::Spawn, 0, 0}}, {{Op::Wait, 0, 0}}};
  program.callbacks = {{{Op::Start, 0, 0}}};
  expect_sound(program);
}

// A coroutine that cancels itself and then enters a protected region was told inside of it.
TEST(FoundPrograms, ProtectedRegionKeepsAnEarlierCancellationOut) {
  FERMATA_CHECKS("CORE-CO-06", "CORE-CO-14");
  Program program;
  program.events = {Subject::Promise};
  program.bodies = {
      {{Op::Spawn, 0, 0}},
      {{Op::Cancel, 0, 0}, {Op::Protect, 0, 1}, {Op::Suspend, 0, 0}, {Op::Suspend, 0, 0}}};
  program.callbacks = {{}};
  expect_sound(program);
}

// A false alarm: the subscriber that a closed event tells at once had been taken for the waiter
// that its step answers, which leaves the event out of turn.
TEST(FoundPrograms, AWaiterIsAnsweredByASubscriberThatIsToldAtOnce) {
  FERMATA_CHECKS("CORE-CB-11", "CORE-EV-08");
  Program program;
  program.events = {Subject::Signal, Subject::Promise};
  program.bodies = {{{Op::Spawn, 0, 0},
                     {Op::Subscribe, 1, 1},
                     {Op::Suspend, 0, 0},
                     {Op::Subscribe, 1, 0},
                     {Op::Subscribe, 1, 0},
                     {Op::Close, 1, 0}},
                    {{Op::Wait, 0, 6}}};
  program.callbacks = {{}, {{Op::Subscribe, 1, 2}}, {{Op::Cancel, 0, 0}}};
  expect_sound(program);
  expect_run(kCallbackDeletion.name, exploration_of(kCallbackDeletion), "pct:3:k=118",
             0x604a368ad55185c6);
}

// Directories in a list of a directory that was dropped meanwhile were watched, and nobody watched
// what they were in.
TEST(FoundPrograms, NoPlaceIsWatchedBelowOneThatIsNot) {
  FERMATA_CHECKS("FS-05");
  expect_run(scripts::kWatches.name, scripts::exploration_of(scripts::kWatches), "random",
             0x9e9ab570d26ca6f1);
}

}  // namespace
}  // namespace fermata::properties
