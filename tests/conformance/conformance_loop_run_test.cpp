// SPDX-License-Identifier: Apache-2.0
//
// Section D of the list: run and stop.

#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopRun : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopRun, every_arm(), arm_name);

/// Main waits, and is resumed with a value by a defer.
void suspend_and_resume(LoopArm& arm) {
  const loop::Suspension main = arm.loop().suspension();
  arm.loop().defer([main] { main.resume(42); });
  EXPECT_EQ(main.suspend_for<int>(), 42);
}

LOOP_CASE(LoopRun, RunGoesOnUntilItIsStopped) {
  int calls = 0;
  loop.repeat(1ms, [&](CallbackId id) {
    if (++calls == 10) loop.cancel(id);
  });
  arm.drive();
  EXPECT_EQ(calls, 10);
}

LOOP_CASE(LoopRun, StopKeepsALaterTimerFromFiring) {
  int calls = 0;
  loop.defer([&] {
    loop.delay(1s, [&] { ++calls; });
    loop.stop();
  });
  const Instant began = now();
  arm.drive();
  EXPECT_LE(now() - began, arm.slack());
  EXPECT_EQ(calls, 0);
}

LOOP_CASE(LoopRun, RunInsideACallbackIsRefused) {
  bool refused = false;
  loop.queue([&] {
    if (arm.is_hosted()) {
      EXPECT_THROW(loop.run(), loop::LoopIsHosted);
    } else {
      EXPECT_THROW(loop.run(), loop::AlreadyRunning);
    }
    refused = true;
  });
  arm.drive();
  EXPECT_TRUE(refused);
}

LOOP_CASE(LoopRun, RunWorksAfterASuspension) {
  if (arm.refuses_to_suspend_main()) return;
  suspend_and_resume(arm);
  int calls = 0;
  loop.defer([&] { ++calls; });
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopRun, ASuspensionWorksAfterARun) {
  int calls = 0;
  loop.defer([&] { ++calls; });
  arm.drive();
  EXPECT_EQ(calls, 1);
  if (arm.refuses_to_suspend_main()) return;
  suspend_and_resume(arm);
}

}  // namespace
}  // namespace fermata::conformance
