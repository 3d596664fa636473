// SPDX-License-Identifier: Apache-2.0
//
// Section E of the list: timers and the clock.

#include <algorithm>
#include <limits>

#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopTime : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopTime, every_arm(), arm_name);

LOOP_CASE(LoopTime, ATimerCountsFromItsCallAndNotFromItsTick) {
  Instant created;
  Instant fired;
  loop.defer([&] {
    created = now();
    loop.delay(200ms, [&] { fired = now(); });
    arm.block_for(100ms);
  });
  arm.drive();
  EXPECT_GE(fired - created, 200ms);
  EXPECT_LE(fired - created, 200ms + arm.slack());
}

LOOP_CASE(LoopTime, ATimerThatIsOverdueIsNotWaitedFor) {
  int calls = 0;
  loop.delay(1ms, [&] { ++calls; });
  arm.block_for(10ms);
  const Instant began = now();
  arm.drive();
  EXPECT_EQ(calls, 1);
  EXPECT_LE(now() - began, arm.slack());
}

LOOP_CASE(LoopTime, AShortRepeatLetsOtherTimersFire) {
  const Instant began = now();
  Instant fired;
  loop.repeat(0ms, [&] { arm.block_for(2ms); });
  loop.delay(2ms, [&] {
    fired = now();
    loop.stop();
  });
  arm.drive();
  EXPECT_GE(fired - began, 2ms);
  EXPECT_LE(fired - began, 4ms + arm.slack());
}

constexpr Duration kMax = std::chrono::nanoseconds::max();

LOOP_CASE(LoopTime, AnEndlessDelayNeverFires) {
  int calls = 0;
  loop.delay(kMax, [&] { ++calls; });
  loop.delay(std::numeric_limits<double>::infinity(), [&] { ++calls; });
  loop.delay(2ms, [&] { loop.stop(); });
  arm.drive();
  EXPECT_EQ(calls, 0);
}

LOOP_CASE(LoopTime, AnEndlessRepeatNeverFires) {
  int calls = 0;
  loop.repeat(kMax, [&] { ++calls; });
  loop.repeat(std::numeric_limits<double>::infinity(), [&] { ++calls; });
  loop.delay(2ms, [&] { loop.stop(); });
  arm.drive();
  EXPECT_EQ(calls, 0);
}

// The queue is the runtime's and hidden, so the order in which it gives timers up is looked at.
LOOP_CASE(LoopTime, TimersFireInTheOrderOfTheirDeadlines) {
  const std::vector<int> values = {9, 2, 4,  1, 13, 2, 6, 6, 12, 1, 3,  11, 8, 7,
                                   5, 5, 10, 4, 2,  9, 8, 1, 7,  3, 13, 12, 6, 11};
  std::vector<int> fired;
  std::vector<CallbackId> ids;
  const Instant start = now();
  for (const int value : values) {
    const Duration rest = value * 10ms - (now() - start);  // However long this takes.
    ids.push_back(loop.delay(rest, [&fired, value] { fired.push_back(value); }));
  }
  loop.cancel(ids[16]);
  std::vector<int> expected = values;
  expected.erase(expected.begin() + 16);
  std::sort(expected.begin(), expected.end());
  arm.drive();
  EXPECT_EQ(fired, expected);
}

LOOP_CASE(LoopTime, ANegativeDelayIsRefused) {
  EXPECT_THROW(loop.delay(-1ns, [] {}), UsageError);
  EXPECT_THROW(loop.delay(-0.5, [] {}), UsageError);
  EXPECT_THROW(loop.delay(std::numeric_limits<double>::quiet_NaN(), [] {}), UsageError);
  EXPECT_EQ(loop.timer_count(), 0u);
}

LOOP_CASE(LoopTime, ANegativeIntervalIsRefused) {
  EXPECT_THROW(loop.repeat(-1ns, [] {}), UsageError);
  EXPECT_THROW(loop.repeat(-0.5, [] {}), UsageError);
  EXPECT_THROW(loop.repeat(std::numeric_limits<double>::quiet_NaN(), [] {}), UsageError);
  EXPECT_EQ(loop.timer_count(), 0u);
}

}  // namespace
}  // namespace fermata::conformance
