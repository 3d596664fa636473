// SPDX-License-Identifier: Apache-2.0
//
// Section B of the list: what keeps the loop alive.

#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopLife : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopLife, every_arm(), arm_name);

/// An unreferenced callback that is alone: the loop ends at once, and it has not run.
void ends_without(LoopArm& arm, CallbackId id, const int& calls) {
  arm.loop().unreference(id);
  const Instant began = now();
  arm.drive();
  EXPECT_LE(now() - began, arm.slack());
  EXPECT_EQ(calls, 0);
}

LOOP_CASE(LoopLife, WhatIsReferencedAgainIsWaitedFor) {
  int calls = 0;
  const CallbackId id = loop.defer([&] { ++calls; });
  loop.unreference(id);
  loop.unreference(id);
  loop.reference(id);
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopLife, AnUnreferencedDeferDoesNotKeepTheLoopAlive) {
  int calls = 0;
  ends_without(arm, loop.defer([&] { ++calls; }), calls);
}

LOOP_CASE(LoopLife, AnUnreferencedDelayDoesNotKeepTheLoopAlive) {
  int calls = 0;
  ends_without(arm, loop.delay(2s, [&] { ++calls; }), calls);
}

LOOP_CASE(LoopLife, AnUnreferencedRepeatDoesNotKeepTheLoopAlive) {
  int calls = 0;
  ends_without(arm, loop.repeat(2s, [&] { ++calls; }), calls);
}

LOOP_CASE(LoopLife, AnUnreferencedReaderDoesNotKeepTheLoopAlive) {
  int calls = 0;
  ends_without(arm, loop.on_readable(arm.never_readable(), [&] { ++calls; }), calls);
}

LOOP_CASE(LoopLife, AnUnreferencedWriterDoesNotKeepTheLoopAlive) {
  int calls = 0;
  ends_without(arm, loop.on_writable(arm.always_writable(), [&] { ++calls; }), calls);
}

/// A repeat that cancels itself after three calls, a writable one after four.
struct ThreeAndFour {
  int repeats = 0;
  int writes = 0;

  void start(LoopArm& arm) {
    Loop& loop = arm.loop();
    loop.repeat(1ms, [this, &loop](CallbackId id) {
      if (++repeats == 3) loop.cancel(id);
    });
    loop.on_writable(arm.always_writable(), [this, &loop](CallbackId id, int) {
      if (++writes == 4) loop.cancel(id);
    });
  }
  void check() const {
    EXPECT_EQ(repeats, 3);
    EXPECT_EQ(writes, 4);
  }
};

LOOP_CASE(LoopLife, RunGoesOnWhileCallbacksAreLeft) {
  ThreeAndFour script;
  script.start(arm);
  arm.drive();
  script.check();
}

LOOP_CASE(LoopLife, RunGoesOnForWhatADeferRegisters) {
  ThreeAndFour script;
  loop.defer([&] { script.start(arm); });
  arm.drive();
  script.check();
}

LOOP_CASE(LoopLife, RunCallsWhatWasDeferred) {
  int calls = 0;
  loop.defer([&] { ++calls; });
  arm.drive();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace fermata::conformance
