// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/checks.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;

template <class Arm>
class Timers : public ::testing::Test {};
TYPED_TEST_SUITE(Timers, OrderedPollableArms);

MAIN_TYPED_TEST(Timers, AOneShotFiresOnceNotBeforeItsDeadlineAndIsClosedThen) {
  FERMATA_CHECKS("TMR-01", "TMR-02", "CORE-EV-06");
  Timer timer(current_runtime(), 5ms);
  int fires = 0;
  bool closed_inside = false;
  const Subscription subscription = subscribe(timer, [&](Event& event, const Outcome&) {
    ++fires;
    closed_inside = event.is_closed();
  });
  const Instant began = now();
  wait(timer);
  EXPECT_GE(now() - began, 5ms);
  delay(10ms);
  EXPECT_EQ(fires, 1);
  EXPECT_TRUE(closed_inside);
}

MAIN_TYPED_TEST(Timers, AZeroTimeoutFiresInTheNextTurnNeverInline) {
  Timer timer(current_runtime(), 0ms);
  bool fired = false;
  const Subscription subscription = subscribe(timer, [&](Event&, const Outcome&) { fired = true; });
  timer.start();
  EXPECT_FALSE(fired);
  wait(timer);
  EXPECT_TRUE(fired);
}

MAIN_TYPED_TEST(Timers, AStoppedTimerNeverFiresAndARestartedOneCountsAfresh) {
  FERMATA_CHECKS("TMR-03");
  Timer timer(current_runtime(), 4ms);
  int fires = 0;
  const Subscription subscription = subscribe(timer, [&](Event&, const Outcome&) { ++fires; });
  timer.start();
  timer.stop();
  delay(8ms);
  EXPECT_EQ(fires, 0);
  const Instant began = now();
  wait(timer);
  EXPECT_GE(now() - began, 4ms);
  EXPECT_EQ(fires, 1);
}

MAIN_TYPED_TEST(Timers, EqualSpansFireInTheOrderOfArming) {
  FERMATA_CHECKS("TMR-04");
  std::vector<int> fired;
  std::vector<Ref<Timer>> timers;
  std::vector<Subscription> subscriptions;
  for (int i = 0; i < 10; ++i) {
    timers.push_back(make_timer(current_runtime(), 3ms));
    subscriptions.push_back(
        subscribe(*timers.back(), [&fired, i](Event&, const Outcome&) { fired.push_back(i); }));
  }
  for (const auto& timer : timers) timer->start();
  delay(10ms);
  EXPECT_EQ(fired, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

MAIN_TYPED_TEST(Timers, EarlierDeadlinesFireFirstHoweverTheyWereArmed) {
  std::vector<int> woken;
  std::vector<Coroutine<>> sleepers;
  for (const int milliseconds : {9, 3, 6}) {
    sleepers.push_back(spawn("sleeper", [&woken, milliseconds] {
      delay(std::chrono::milliseconds(milliseconds));
      woken.push_back(milliseconds);
    }));
  }
  for (const auto& sleeper : sleepers) await(sleeper);
  EXPECT_EQ(woken, (std::vector<int>{3, 6, 9}));
}

MAIN_TYPED_TEST(Timers, APeriodicTimerNeverFiresMoreOftenThanItsIntervalAllows) {
  FERMATA_CHECKS("TMR-07", "CORE-EV-07");
  Timer timer(current_runtime(), 2ms, TimerMode::Periodic);
  const Instant began = now();
  for (int fires = 1; fires <= 4; ++fires) {
    wait(timer);
    EXPECT_GE(now() - began, fires * 2ms);
  }
  EXPECT_FALSE(timer.is_closed());
}

MAIN_TYPED_TEST(Timers, StoppingAPeriodicTimerInsideItsCallbackIsTheEndOfIt) {
  FERMATA_CHECKS("CORE-EV-07", "CORE-EV-16");
  Timer timer(current_runtime(), 1ms, TimerMode::Periodic);
  int fires = 0;
  const Subscription subscription = subscribe(timer, [&](Event& event, const Outcome&) {
    if (++fires == 2) event.stop();
  });
  timer.start();
  while (fires < 2) delay(1ms);
  delay(5ms);
  EXPECT_EQ(fires, 2);
}

MAIN_TYPED_TEST(Timers, RearmKeepsSubscribersAndReferencesOfAMultishotTimer) {
  FERMATA_CHECKS("TMR-05", "TMR-06");
  Timer timer(current_runtime(), 1ms, TimerMode::Multishot);
  int fires = 0;
  const Subscription subscription = subscribe(timer, [&](Event&, const Outcome&) { ++fires; });
  timer.start();
  delay(5ms);
  EXPECT_EQ(fires, 1);
  const std::uint32_t references = timer.ref_count();
  timer.rearm(2ms);
  EXPECT_EQ(timer.ref_count(), references);
  EXPECT_EQ(timer.callbacks().size(), 1u);
  delay(8ms);
  EXPECT_EQ(fires, 2);

  Timer once(current_runtime(), 1ms);
  EXPECT_THROW(once.rearm(1ms), UsageError);
}

MAIN_TYPED_TEST(Timers, NobodyMaySuspendInsideATurn) {
  FERMATA_CHECKS("RX-01", "CORE-SC-19");
  Timer timer(current_runtime(), 1ms);
  std::string error;
  const Subscription subscription = subscribe(timer, [&](Event&, const Outcome&) {
    try {
      suspend();
    } catch (const UsageError& refused) {
      error = refused.what();
    }
  });
  wait(timer);
  EXPECT_NE(error, "");
}

MAIN_TYPED_TEST(Timers, AWaitThatOutlivesItsTimeoutSaysHowLongItWaited) {
  Timer never(current_runtime(), 1h);
  try {
    wait(never, {.timeout = 3ms});
    ADD_FAILURE() << "expected Timeout";
  } catch (const Timeout& error) {
    EXPECT_STREQ(error.what(), "Timeout occurred after 3 milliseconds");
  }
  EXPECT_EQ(never.loop_ref_count(), 0u);
}

/// A destructor that waits, as the guide writes it.
struct Waits {
  explicit Waits(std::vector<std::string>& told) : steps(told) {}
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;
  ~Waits() {
    protect_in_destructor([this] {
      delay(2ms);
      steps.emplace_back("waited");
    });
  }
  std::vector<std::string>& steps;
};

TYPED_TEST(Timers, ADestructorWaitsForOneAlsoWhenItIsCancelledMeanwhile) {
  std::vector<std::string> steps;
  TypeParam::run([&] {  // On each backend of the arm.
    steps.clear();
    const auto leaving = spawn("leaving", [&] {
      { const Waits guard(steps); }
      steps.emplace_back("goes on");
      suspend();
      steps.emplace_back("never");
    });
    suspend();
    leaving.cancel();
    EXPECT_THROW(await(leaving), Cancellation);
  });
  EXPECT_EQ(steps, (std::vector<std::string>{"waited", "goes on"}));
}

TYPED_TEST(Timers, ADestructorThatAnExceptionCallsWaitsForOneInTheSameWay) {
  std::vector<std::string> steps;
  TypeParam::run([&] {  // On each backend of the arm.
    steps.clear();
    const auto failing = spawn("failing", [&] {
      const Waits guard(steps);
      throw Error("failed");
    });
    suspend();
    failing.cancel();
    EXPECT_THROW(await(failing), Error);
  });
  EXPECT_EQ(steps, std::vector<std::string>{"waited"});
}

TYPED_TEST(Timers, AShutdownLetsADestructorWaitForOne) {
  std::vector<std::string> steps;
  TypeParam::run([&] {  // On each backend of the arm.
    steps.clear();
    const auto leaving = spawn("leaving", [&] { const Waits guard(steps); });
    suspend();
    shutdown();
  });
  EXPECT_EQ(steps, std::vector<std::string>{"waited"});
}

}  // namespace
}  // namespace fermata::conformance
