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

TEST_P(LoopTime, ATimerCountsFromItsCallAndNotFromItsTick) {
  on_arm([](LoopArm& arm) {
    Loop& loop = arm.loop();
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
  });
}

TEST_P(LoopTime, ATimerThatIsOverdueIsNotWaitedFor) {
  on_arm([](LoopArm& arm) {
    int calls = 0;
    arm.loop().delay(1ms, [&] { ++calls; });
    arm.block_for(10ms);
    const Instant began = now();
    arm.drive();
    EXPECT_EQ(calls, 1);
    EXPECT_LE(now() - began, arm.slack());
  });
}

TEST_P(LoopTime, AShortRepeatLetsOtherTimersFire) {
  on_arm([](LoopArm& arm) {
    Loop& loop = arm.loop();
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
  });
}

constexpr Duration kMax = std::chrono::nanoseconds::max();

TEST_P(LoopTime, AnEndlessDelayNeverFires) {
  on_arm([](LoopArm& arm) {
    Loop& loop = arm.loop();
    int calls = 0;
    loop.delay(kMax, [&] { ++calls; });
    loop.delay(std::numeric_limits<double>::infinity(), [&] { ++calls; });
    loop.delay(2ms, [&] { loop.stop(); });
    arm.drive();
    EXPECT_EQ(calls, 0);
  });
}

TEST_P(LoopTime, AnEndlessRepeatNeverFires) {
  on_arm([](LoopArm& arm) {
    Loop& loop = arm.loop();
    int calls = 0;
    loop.repeat(kMax, [&] { ++calls; });
    loop.repeat(std::numeric_limits<double>::infinity(), [&] { ++calls; });
    loop.delay(2ms, [&] { loop.stop(); });
    arm.drive();
    EXPECT_EQ(calls, 0);
  });
}

// The queue is the runtime's and hidden, so the order in which it gives timers up is looked at.
TEST_P(LoopTime, TimersFireInTheOrderOfTheirDeadlines) {
  on_arm([](LoopArm& arm) {
    Loop& loop = arm.loop();
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
  });
}

TEST_P(LoopTime, ANegativeDelayIsRefused) {
  on_arm([](LoopArm& arm) {
    EXPECT_THROW(arm.loop().delay(-1ns, [] {}), UsageError);
    EXPECT_THROW(arm.loop().delay(-0.5, [] {}), UsageError);
    EXPECT_THROW(arm.loop().delay(std::numeric_limits<double>::quiet_NaN(), [] {}), UsageError);
    EXPECT_EQ(arm.loop().timer_count(), 0u);
  });
}

TEST_P(LoopTime, ANegativeIntervalIsRefused) {
  on_arm([](LoopArm& arm) {
    EXPECT_THROW(arm.loop().repeat(-1ns, [] {}), UsageError);
    EXPECT_THROW(arm.loop().repeat(-0.5, [] {}), UsageError);
    EXPECT_THROW(arm.loop().repeat(std::numeric_limits<double>::quiet_NaN(), [] {}), UsageError);
    EXPECT_EQ(arm.loop().timer_count(), 0u);
  });
}

}  // namespace
}  // namespace fermata::conformance
