// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/world.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "tests/support/checks.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class WorldTest : public ::testing::Test {
 protected:
  void SetUp() override { decisions_.begin(1); }

  /// Runs `main` as the one program of a fresh run.
  void run(std::function<void()> main) {
    world_.node("main", std::move(main));
    world_.run();
  }
  /// The failure that such a run ends with.
  Failure failure_of(std::function<void()> main) {
    run(std::move(main));
    EXPECT_TRUE(world_.failure());
    return world_.failure().value_or(Failure());
  }
  void again(std::uint64_t seed = 1, const WorldOptions& options = {}) {
    decisions_.begin(seed);
    world_.reset(options);
  }

  std::unique_ptr<Strategy> strategy_ = make_strategy("random");
  Decisions decisions_{*strategy_};
  World world_{decisions_, {.faults = FaultSet::none()}};
};

TEST_F(WorldTest, RunsAProgramToItsEnd) {
  int ran = 0;
  run([&] { ++ran; });
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(world_.failure());
  EXPECT_EQ(world_.now(), Instant{});
}

TEST_F(WorldTest, TimeJumpsToTheNextDeadline) {
  std::vector<std::int64_t> woken;
  run([&] {
    auto late = spawn("late", [&] {
      delay(2h);
      woken.push_back(now().nanoseconds);
    });
    delay(3ms);
    woken.push_back(now().nanoseconds);
    wait(*late);
  });
  ASSERT_FALSE(world_.failure()) << world_.failure()->message;
  EXPECT_EQ(woken, (std::vector<std::int64_t>{3'000'000, 7'200'000'000'000}));
  EXPECT_EQ(world_.now().nanoseconds, 7'200'000'000'000);
}

TEST_F(WorldTest, IsTheSameWhenItIsRunAgain) {
  FERMATA_CHECKS("CORE-SC-20", "CORE-GL-11");
  const auto program = [] {
    std::vector<Coroutine<>> all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(spawn("worker", [i] {
        for (int k = 0; k < 3; ++k) i % 2 == 0 ? suspend() : delay(std::chrono::microseconds(i));
      }));
    }
    for (const auto& each : all) wait(*each);
  };
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < 4; ++i) {
    again(7);
    run(program);
    hashes.push_back(world_.trace_hash());
  }
  again(8);
  run(program);
  EXPECT_EQ(hashes, std::vector<std::uint64_t>(4, hashes[0]));
  EXPECT_NE(world_.trace_hash(), hashes[0]);
}

TEST_F(WorldTest, NamesCoroutinesTheSameInEveryRun) {
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 3; ++i) {
    again();
    run([&] { ids.push_back(spawn([] {})->id()); });
  }
  EXPECT_EQ(ids, std::vector<std::uint64_t>(3, ids[0]));
}

TEST_F(WorldTest, AStepCanCostTime) {
  run([&] {
    consume(7ms);
    EXPECT_EQ(now().nanoseconds, 7'000'000);
    delay(1ms);
    EXPECT_EQ(now().nanoseconds, 8'000'000);
    EXPECT_THROW(consume(-1ns), UsageError);
  });
  ASSERT_FALSE(world_.failure());
  EXPECT_THROW(consume(1ms), UsageError);
}

TEST_F(WorldTest, ALongStepDoesNotKeepTimersFromFiringAtTheNextTick) {
  FERMATA_CHECKS("CORE-SC-09");
  bool fired = false;
  int steps = 0;
  run([&] {
    auto sleeper = spawn("sleeper", [&] {
      delay(10ms);
      fired = true;
    });
    suspend();
    while (!fired) {
      ASSERT_LT(++steps, 5);
      consume(150ms);
      suspend();
    }
    wait(*sleeper);
  });
  ASSERT_FALSE(world_.failure()) << world_.failure()->message;
  EXPECT_TRUE(fired);
}

TEST_F(WorldTest, ReportsAnUnhandledError) {
  const Failure failure = failure_of([&] {
    auto bad = spawn("bad", [] {
      delay(5ms);
      throw std::runtime_error("out of ink");
    });
    bad = {};
    delay(1s);
  });
  EXPECT_EQ(failure.verdict, Verdict::Safety);
  EXPECT_NE(failure.message.find("out of ink"), std::string::npos);
  EXPECT_EQ(failure.coroutine, "bad");
  EXPECT_EQ(failure.at.nanoseconds, 5'000'000);
}

/// Two that do, and the caller, who waits for one of them.
void wait_for_each_other() {
  Coroutine<> a;
  Coroutine<> b;
  a = spawn("left", [&] { wait(*b); });
  b = spawn("right", [&] { wait(*a); });
  wait(*a);
}

TEST_F(WorldTest, ExplainsADeadlock) {
  const Failure failure = failure_of(&wait_for_each_other);
  EXPECT_EQ(failure.verdict, Verdict::Deadlock);
  EXPECT_NE(failure.message.find("3 coroutines in waiting"), std::string::npos) << failure.message;
  EXPECT_NE(failure.explanation.find("cycle: 'left' --join--> 'right' --join--> 'left'\n"),
            std::string::npos)
      << failure.explanation;
  EXPECT_NE(failure.explanation.find("world_test.cpp"), std::string::npos);
}

TEST_F(WorldTest, AHiddenTimerThatIsArmedAgainAndAgainHidesNoDeadlock) {
  FERMATA_CHECKS("CORE-EV-11");
  const Failure failure = failure_of([] {
    const auto timer = make_timer(current_runtime(), 0ms, TimerMode::Multishot);
    const auto again = subscribe(*timer, [&](Event&, const Outcome&) { timer->rearm(0ms); });
    timer->set_hidden(true);
    timer->start();
    wait_for_each_other();
  });
  EXPECT_EQ(failure.verdict, Verdict::Deadlock) << failure.message;
}

TEST_F(WorldTest, CallsALivelockByTheNameOfTheBusyCoroutine) {
  again(1, {.step_limit = 1000});
  const Failure failure = failure_of([&] {
    spawn("innocent", [] { delay(1s); });
    auto spinner = spawn("spinner", [] {
      while (true) suspend();
    });
    wait(*spinner);
  });
  EXPECT_EQ(failure.verdict, Verdict::Liveness);
  EXPECT_EQ(failure.coroutine, "spinner");
  EXPECT_EQ(failure.message,
            "livelock: more than 1000 steps without an end, most of late by 'spinner'");
}

TEST_F(WorldTest, LimitsWhatHappensWhileTimeStandsStill) {
  again(1, {.instant_limit = 1000, .faults = FaultSet::none()});
  const Failure failure = failure_of([] {
    delay(12ms);
    spawn("innocent", [] { delay(1s); });
    spawn("spinner", [] {
      for (int i = 0; i < 900; ++i) suspend();
      delay(1ms);
      while (true) delay(0ms);
    });
  });
  EXPECT_EQ(failure.verdict, Verdict::Liveness);
  EXPECT_EQ(failure.coroutine, "spinner");
  EXPECT_EQ(failure.message,
            "livelock: more than 1000 steps and timers on 'main' without a wait for time to pass, "
            "most of late by 'spinner'");
  EXPECT_EQ(world_.now(), Instant{} + 13ms);
}

TEST_F(WorldTest, NamesTheTimersThatNeverComeToAnEnd) {
  again(1, {.instant_limit = 1000, .faults = FaultSet::none()});
  const Failure failure = failure_of([] {
    const auto timer = make_timer(current_runtime(), 0ms, TimerMode::Multishot);
    const auto again = subscribe(*timer, [&](Event&, const Outcome&) { timer->rearm(0ms); });
    timer->start();
    delay(1s);
  });
  EXPECT_EQ(failure.verdict, Verdict::Liveness);
  EXPECT_NE(failure.message.find("most of late by Timer #"), std::string::npos) << failure.message;
  EXPECT_NE(failure.explanation.find("Timer #"), std::string::npos) << failure.explanation;
}

TEST_F(WorldTest, LimitsActionsWhileTimeStandsStill) {
  again(1, {.instant_limit = 1000, .faults = FaultSet::none()});
  std::function<void()> once_more = [&] { world_.at(0ms, once_more); };
  world_.at(5ms, once_more);
  const Failure failure = failure_of([] { delay(1s); });
  EXPECT_EQ(failure.verdict, Verdict::Liveness);
  EXPECT_EQ(failure.message, "livelock: more than 1000 rounds of actions while time stands still");
  EXPECT_EQ(world_.now(), Instant{} + 5ms);
}

TEST_F(WorldTest, CountsActionsAnewWhenTimePasses) {
  again(1, {.instant_limit = 1000, .faults = FaultSet::none()});
  int rounds = 0;
  std::function<void()> once_more = [&] {
    if (++rounds < 3000) world_.at(1us, once_more);
  };
  world_.at(1us, once_more);
  run([] { delay(1s); });
  EXPECT_FALSE(world_.failure());
  EXPECT_EQ(rounds, 3000);
}

TEST_F(WorldTest, LimitsVirtualTime) {
  again(1, {.time_limit = 10s});
  const Failure failure = failure_of([&] {
    while (true) delay(1s);
  });
  EXPECT_EQ(failure.verdict, Verdict::Liveness);
  EXPECT_EQ(failure.message, "the run has not ended within 10 s of virtual time");
  EXPECT_LE(world_.now(), Instant{} + 10s);
}

TEST_F(WorldTest, UnwindsWhatIsLeftAfterAFailure) {
  struct Witness {
    int& unwound;
    ~Witness() { ++unwound; }
  };
  int unwound = 0;
  int went_on = 0;
  const Failure failure = failure_of([&] {
    for (int i = 0; i < 3; ++i) {
      spawn("victim", [&] {
        const Witness witness{unwound};
        delay(1h);
        ++went_on;
      });
    }
    delay(1ms);
    const Witness witness{unwound};
    world_.fail(Verdict::Safety, "enough");
    suspend();
    ++went_on;
  });
  EXPECT_EQ(failure.message, "enough");
  EXPECT_EQ(failure.coroutine, "main");
  EXPECT_EQ(unwound, 4);
  EXPECT_EQ(went_on, 0);
  again();
  run([] { delay(1ms); });
  EXPECT_FALSE(world_.failure());
}

TEST_F(WorldTest, KeepsTheFirstFailure) {
  run([&] {
    world_.fail(Verdict::Leak, "first");
    world_.fail(Verdict::Safety, "second");
  });
  EXPECT_EQ(world_.failure()->message, "first");
}

TEST_F(WorldTest, SignalsStartAGracefulShutdown) {
  bool cleaned_up = false;
  world_.at(5ms, [&] { world_.node("main").signal(SIGTERM); });
  run([&] {
    try {
      delay(1h);
    } catch (const Cancellation&) {
      cleaned_up = true;
      throw;
    }
  });
  EXPECT_FALSE(world_.failure());
  EXPECT_TRUE(cleaned_up);
  EXPECT_EQ(world_.now().nanoseconds, 5'000'000);
}

TEST_F(WorldTest, ASignalThatNobodyExpectsKills) {
  world_.at(1ms, [&] { world_.node("main").signal(SIGUSR1); });
  const Failure failure = failure_of([&] { delay(1h); });
  EXPECT_EQ(failure.message, "unhandled signal 10 terminated 'main'");
}

TEST_F(WorldTest, RunsSeveralNodesInTheOrderOfTime) {
  std::vector<std::string> order;
  const auto program = [&](const char* name, Duration period) {
    return [&order, name, period] {
      for (int i = 0; i < 3; ++i) {
        delay(period);
        order.emplace_back(name);
      }
    };
  };
  world_.node("slow", program("slow", 5ms));
  world_.node("fast", program("fast", 2ms));
  world_.run();
  ASSERT_FALSE(world_.failure());
  EXPECT_EQ(order, (std::vector<std::string>{"fast", "fast", "slow", "fast", "slow", "slow"}));
}

TEST_F(WorldTest, ASpinningNodeDoesNotStarveTheOthers) {
  bool done = false;
  world_.node("spinner", [&] {
    while (!done) suspend();
  });
  world_.node("worker", [&] {
    for (int i = 0; i < 100; ++i) suspend();
    done = true;
  });
  world_.run();
  EXPECT_FALSE(world_.failure());
}

TEST_F(WorldTest, ShutsServicesDownWhenTheOthersHaveEnded) {
  bool stopped = false;
  world_.service("server", [&] {
    try {
      while (true) delay(1s);
    } catch (const Cancellation&) {
      stopped = true;
    }
  });
  run([] { delay(10s); });
  EXPECT_FALSE(world_.failure());
  EXPECT_TRUE(stopped);
  EXPECT_GE(world_.now(), Instant{} + 10s);
}

TEST_F(WorldTest, RefusesTwoNodesOfOneName) {
  world_.node("a", [] {});
  EXPECT_THROW(world_.node("a", [] {}), UsageError);
  EXPECT_THROW(static_cast<void>(world_.node("b")), UsageError);
  world_.run();
}

TEST_F(WorldTest, TimersMayBeLateButNeverEarly) {
  FERMATA_CHECKS("TMR-01");
  FaultSet faults = FaultSet::none();
  faults.add(Fault::TimerLate);
  std::uint64_t late = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    again(seed, {.faults = faults});
    run([&] {
      for (int i = 0; i < 5; ++i) {
        const Instant due = now() + 1ms;
        delay(1ms);
        ASSERT_GE(now(), due);
        late += now() > due ? 1 : 0;
      }
    });
    ASSERT_FALSE(world_.failure());
  }
  EXPECT_GT(late, 50u);
  EXPECT_LT(late, 900u);
}

TEST_F(WorldTest, FindsWhatOutlivesTheRun) {
  FERMATA_CHECKS("CORE-EV-10");
  Coroutine<> kept;
  const Failure failure = failure_of([&] { kept = spawn("forgotten", [] {}); });
  EXPECT_EQ(failure.verdict, Verdict::Leak);
  EXPECT_NE(failure.message.find("forgotten"), std::string::npos) << failure.message;
  kept = {};
  again();
  run([] { delay(1ms); });
  EXPECT_FALSE(world_.failure());
}

TEST_F(WorldTest, CollectsWhatTheRuntimeReports) {
  run([&] {
    delay(1500us);
    world_.node("main").runtime().log("halfway");
  });
  EXPECT_EQ(world_.log(), (std::vector<std::string>{"+1.500 ms main/main: halfway"}));
}

TEST_F(WorldTest, ASkipEndsTheRunUnjudged) {
  bool went_on = false;
  run([&] {
    spawn("waits", [] { delay(1h); });
    world_.skip("no such device");
    world_.skip("another reason");
    suspend();
    went_on = true;
  });
  EXPECT_EQ(world_.skipped(), "no such device");
  EXPECT_FALSE(world_.failure());
  EXPECT_FALSE(went_on);
  again();
  EXPECT_FALSE(world_.skipped());
  EXPECT_THROW(world_.skip("nothing runs"), UsageError);
}

TEST_F(WorldTest, WhatFailsAfterASkipDoesNotCountAndASkipAfterAFailureNeither) {
  run([&] {
    world_.skip("no such device");
    world_.fail(Verdict::Safety, "too late");
  });
  EXPECT_TRUE(world_.skipped());
  EXPECT_FALSE(world_.failure());
  again();
  const Failure failure = failure_of([&] {
    world_.fail(Verdict::Safety, "first");
    world_.skip("too late");
  });
  EXPECT_EQ(failure.message, "first");
  EXPECT_FALSE(world_.skipped());
}

}  // namespace
}  // namespace fermata::sim
