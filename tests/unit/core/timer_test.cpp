// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/timer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class TimerTest : public RuntimeFixture {};

TEST_F(TimerTest, NeverFiresBeforeItsDeadline) {
  FERMATA_CHECKS("TMR-01");
  fixture.run([] {
    const Instant start = now();
    delay(1500us);
    EXPECT_EQ(now() - start, 1500us);
  });
  EXPECT_EQ(runtime.metrics().timers_fired, 1u);
}

MAIN_TEST_F(TimerTest, CountsFromTheMomentItIsArmed) {
  Timer timer(runtime, 10ms);
  fixture.reactor->advance(5ms);
  const Instant armed = now();
  wait(timer);
  EXPECT_EQ(now() - armed, 10ms);
}

TEST_F(TimerTest, FiresEqualDeadlinesInArmingOrder) {
  FERMATA_CHECKS("TMR-04");
  std::vector<std::string> order;
  fixture.run([&] {
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      spawn(std::string(name), [&order, name] {
        delay(3ms);
        order.emplace_back(name);
      });
    }
  });
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
}

TEST_F(TimerTest, IsClosedInsideItsCallbacksAndFiresOnce) {
  FERMATA_CHECKS("CORE-EV-06", "TMR-02");
  const auto timer = make_timer(runtime, 1ms);
  Probe probe;
  probe.action = [](Event& fired) { EXPECT_TRUE(fired.is_closed()); };
  timer->add_callback(probe);
  timer->start();
  fixture.run([] { delay(10ms); });
  EXPECT_EQ(probe.runs, 1);
  timer->stop();
  timer->start();
  fixture.run([] { delay(10ms); });
  EXPECT_EQ(probe.runs, 1) << "a fired one-shot does not start again";
}

TEST_F(TimerTest, FiresAZeroTimeoutOnTheNextTurnNeverInline) {
  const auto timer = make_timer(runtime, 0ms);
  Probe probe;
  timer->add_callback(probe);
  fixture.run([&] {
    timer->start();
    EXPECT_EQ(probe.runs, 0);
    wait(*timer);
    EXPECT_EQ(probe.runs, 1);
  });
}

TEST_F(TimerTest, RepeatsUntilStoppedFromInside) {
  FERMATA_CHECKS("CORE-EV-07", "CORE-EV-16", "TMR-07");
  const auto timer = make_timer(runtime, 10ms, TimerMode::Periodic);
  std::vector<Duration> fired_at;
  Probe probe;
  Instant start;
  probe.action = [&](Event& fired) {
    EXPECT_EQ(fired.loop_ref_count(), 1u) << "it stays active through its notify";
    fired_at.push_back(now() - start);
    if (fired_at.size() == 3) fired.stop();
  };
  timer->add_callback(probe);
  fixture.run([&] {
    start = now();
    timer->start();
    delay(100ms);
  });
  EXPECT_EQ(fired_at, (std::vector<Duration>{10ms, 20ms, 30ms}));
  EXPECT_EQ(runtime.active_event_count(), 0u);
}

TEST_F(TimerTest, DoesNotMakeUpForLateFires) {
  FERMATA_CHECKS("TMR-07");
  const auto timer = make_timer(runtime, 10ms, TimerMode::Periodic);
  Probe probe;
  timer->add_callback(probe);
  fixture.run([&] {
    timer->start();
    suspend();
    fixture.reactor->advance(35ms);
    delay(1ms);
    EXPECT_EQ(probe.runs, 1);
    timer->stop();
  });
}

TEST_F(TimerTest, SurvivesItsReleaseInItsOwnCallback) {
  FERMATA_CHECKS("CORE-EV-09");
  auto timer = make_timer(runtime, 1ms);
  Probe probe;
  probe.action = [&](Event&) { timer.reset(); };
  timer->add_callback(probe);
  timer->start();
  fixture.run([] { delay(5ms); });
  EXPECT_EQ(probe.runs, 1);
  EXPECT_EQ(runtime.kernel().live_events.size(), 0u);
}

TEST_F(TimerTest, DoesNotFireOnceStoppedThoughItIsDue) {
  FERMATA_CHECKS("CORE-EV-16", "TMR-03");
  const auto first = make_timer(runtime, 1ms);
  const auto second = make_timer(runtime, 1ms);
  Probe stopper;
  Probe ghost;
  stopper.action = [&](Event&) { second->stop(); };
  first->add_callback(stopper);
  second->add_callback(ghost);
  first->start();
  second->start();
  fixture.run([] { delay(10ms); });
  EXPECT_EQ(stopper.runs, 1);
  EXPECT_EQ(ghost.runs, 0);
  EXPECT_EQ(runtime.timers().size(), 0u);
}

TEST_F(TimerTest, WaitsForTheNextTurnWhenArmedDuringOne) {
  const auto first = make_timer(runtime, 1ms);
  const auto second = make_timer(runtime, 0ms);
  Probe arming;
  Probe armed;
  int turn_of_first = 0;
  int turn_of_second = 0;
  arming.action = [&](Event&) {
    turn_of_first = fixture.reactor->turns;
    second->start();
  };
  armed.action = [&](Event&) { turn_of_second = fixture.reactor->turns; };
  first->add_callback(arming);
  second->add_callback(armed);
  first->start();
  fixture.run([] { delay(10ms); });
  EXPECT_GT(turn_of_second, turn_of_first);
}

MAIN_TEST_F(TimerTest, StaysForOneWaiterWhenTheOtherIsCancelled) {
  FERMATA_CHECKS("CORE-WK-06");
  const auto timer = make_timer(runtime, 10ms);
  const auto waiting = [&] { wait(*timer); };
  const auto first = spawn(waiting);
  const auto second = spawn(waiting);
  suspend();
  EXPECT_EQ(timer->loop_ref_count(), 2u);
  first.cancel();
  EXPECT_EQ(timer->loop_ref_count(), 1u);
  const Instant start = now();
  await(second);
  EXPECT_EQ(now() - start, 10ms);
  EXPECT_TRUE(first->is_cancelled());
}

TEST_F(TimerTest, RearmsAMultishotWithItsSubscribersAndReferences) {
  FERMATA_CHECKS("TMR-06");
  const auto timer = make_timer(runtime, 10ms, TimerMode::Multishot);
  Probe probe;
  timer->add_callback(probe);
  fixture.run([&] {
    timer->start();
    timer->rearm(20ms);  // While it is armed: the old deadline is void.
    delay(15ms);
    EXPECT_EQ(probe.runs, 0);
    delay(10ms);
    EXPECT_EQ(probe.runs, 1);
    EXPECT_EQ(timer->loop_ref_count(), 0u);
    timer->rearm(5ms);  // Once it is stopped: it is active again.
    EXPECT_EQ(timer->loop_ref_count(), 1u);
    EXPECT_EQ(timer->ref_count(), 1u);
    delay(6ms);
    EXPECT_EQ(probe.runs, 2);
  });
}

TEST_F(TimerTest, KeepsItsStartWhenOneWhoStartedItManyRoundsAgoLeaves) {
  FERMATA_CHECKS("CORE-EV-02", "CORE-WK-06");
  const auto timer = make_timer(runtime, 1ms, TimerMode::Multishot);
  Probe probe;
  timer->add_callback(probe);
  fixture.run([&] {
    const auto ignores_fires = spawn([&] {
      current_coroutine().waker().resume_when(
          *timer, backend::WakeRule::Custom, false,
          [](backend::Registration&, Event&, const Outcome&) {});
      EXPECT_THROW(runtime.scheduler().suspend(SourcePlace::current()), Cancellation);
    });
    for (int round = 0; round < 256; ++round) {
      delay(2ms);
      timer->rearm(1ms);
    }
    ignores_fires.cancel();
    EXPECT_EQ(timer->loop_ref_count(), 1u);
    delay(2ms);
  });
  EXPECT_EQ(probe.runs, 257);
}

TEST_F(TimerTest, RefusesToRearmAnythingElse) {
  FERMATA_CHECKS("TMR-05");
  const auto once = make_timer(runtime, 1ms);
  EXPECT_EQ(thrown_by([&] { once->rearm(1ms); }),
            "fermata::UsageError: rearm: only a multishot timer can be rearmed");
  const auto closed = make_timer(runtime, 1ms, TimerMode::Multishot);
  closed->close();
  EXPECT_EQ(thrown_by([&] { closed->rearm(1ms); }),
            "fermata::UsageError: rearm: the timer is closed");
}

TEST_F(TimerTest, RefusesImpossibleTimeouts) {
  EXPECT_EQ(thrown_by([&] { Timer timer(runtime, -1ns); }),
            "fermata::UsageError: timeout of -1 ns: expected zero or more");
  EXPECT_EQ(thrown_by([&] { Timer timer(runtime, 0ns, TimerMode::Periodic); }),
            "fermata::UsageError: interval of 0 ns: expected more than zero for a periodic timer");
  EXPECT_EQ(runtime.kernel().live_events.size(), 0u);
}

TEST_F(TimerTest, SaysWhatItIs) {
  const Timer timer(runtime, 1500us, TimerMode::Periodic);
  EXPECT_EQ(timer.info(), "Timer #1 (timeout=2ms, periodic)");
  EXPECT_EQ(message_of(timer.timeout_error()), "Timeout occurred after 2 milliseconds");
  EXPECT_EQ(timer.timeout(), 1500us);
  EXPECT_EQ(timer.mode(), TimerMode::Periodic);
}

TEST_F(TimerTest, TakesAnEndlessTimeout) {
  const auto timer = make_timer(runtime, Duration::max());
  timer->start();
  EXPECT_EQ(runtime.timers().earliest(), Instant::never());
  timer->stop();
}

}  // namespace
}  // namespace fermata::test
