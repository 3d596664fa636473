// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/hopeless.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/core/fault_point.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/report/failure_report.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/mutex.hpp"
#include "fermata/sync/when_all.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

/// Runs that a limit ends.
class HopelessTest : public ::testing::Test {
 protected:
  /// The failure of a run of `main`.
  Failure failure_of(const std::function<void()>& main, WorldOptions options = {}) {
    if (options.faults == FaultSet::all()) options.faults = FaultSet::none();
    options.step_limit = std::min<std::uint64_t>(options.step_limit, 2'000);
    decisions_.begin(seed_);
    world_.reset(options);
    world_.node("main", main);
    world_.run();
    return world_.failure().value_or(Failure{.message = "none"});
  }

  std::uint64_t seed_ = 1;
  std::unique_ptr<Strategy> strategy_ = make_strategy("fifo");
  Decisions decisions_{*strategy_};
  World world_{decisions_};
};

/// Two that wait for each other, to whom somebody has handles.
struct Ring {
  Coroutine<> left;
  Coroutine<> right;

  void close() {
    left = spawn("left", [this] { wait(*right); });
    right = spawn("right", [this] { wait(*left); });
  }
};

void spin() {
  while (true) suspend();
}

constexpr const char* kStuck = "partial deadlock: 'left', 'right' can never go on";
constexpr const char* kRing = "cycle: 'left' --join--> 'right' --join--> 'left'\n";

TEST_F(HopelessTest, ARingIsTheHeadlineAndTheLimitTheSecondLine) {
  const Failure failure = failure_of([] {
    Ring ring;
    ring.close();
    spawn("spinner", &spin);
    delay(1h);
  });
  EXPECT_EQ(failure.verdict, Verdict::Deadlock);
  EXPECT_EQ(failure.message, kStuck);
  EXPECT_EQ(failure.beneath,
            std::string("stopped by a limit: livelock: more than 2000 steps without an end, most "
                        "of late by 'spinner'\n") +
                kRing);
  EXPECT_TRUE(failure.by_limit);
  FoundFailure found;
  found.failure = failure;
  const std::string report = failure_report(found, {});
  EXPECT_EQ(report.find(std::string("deadlock: ") + kStuck + "\n  stopped by a limit: livelock"),
            0u)
      << report;
}

TEST_F(HopelessTest, ARingIsTheHeadlineOfEveryLimit) {
  const auto ring_and = [&](std::function<void()> endless, WorldOptions options) {
    return failure_of(
        [endless] {
          Ring ring;
          ring.close();
          delay(1ms);
          endless();
        },
        options);
  };
  const auto for_ever = [] {
    while (true) delay(1s);
  };
  const auto no_time = [] {
    while (true) delay(0ms);
  };
  std::function<void()> action = [&] { world_.at(0ms, action); };
  const auto actions = [&] {
    action();
    delay(1h);
  };
  for (const Failure& failure :
       {ring_and(for_ever, {.time_limit = 100s}), ring_and(no_time, {.instant_limit = 100}),
        ring_and(actions, {.instant_limit = 100})}) {
    EXPECT_EQ(failure.verdict, Verdict::Deadlock);
    EXPECT_EQ(failure.message, kStuck);
    EXPECT_EQ(failure.beneath.find("stopped by a limit: "), 0u) << failure.beneath;
    EXPECT_NE(failure.beneath.find(kRing), std::string::npos) << failure.beneath;
  }
}

TEST_F(HopelessTest, SoIsWhoeverNobodyCanWake) {
  const Failure failure = failure_of([] {
    Mutex mutex("mutex");
    const auto thief = spawn("thief", [&] { mutex.lock(); });
    suspend();
    const auto waiter = spawn("waiter", [&] { mutex.lock(); });
    spin();
  });
  EXPECT_EQ(failure.message, "partial deadlock: 'waiter' can never go on");
  EXPECT_NE(failure.beneath.find("lost wake-up: mutex 'mutex' is held by"), std::string::npos)
      << failure.beneath;
}

TEST_F(HopelessTest, ARingMayGoThroughAJointWait) {
  const Failure failure = failure_of([] {
    std::vector<Coroutine<>> both;
    const auto left = spawn("left", [&] { when_all_settled(both); });
    both.push_back(spawn("spinner", &spin));
    both.push_back(spawn("right", [&] { wait(*left); }));
    wait(*both.front());
  });
  EXPECT_EQ(failure.message, kStuck);
}

TEST_F(HopelessTest, NotWhomSomebodyWhoRunsCouldWake) {
  const Failure failure = failure_of([] {
    Channel<int> values;
    const auto receiver = spawn("receiver", [&] { static_cast<void>(values.recv()); });
    const auto joins = spawn("joins", [&] { wait(*receiver); });
    const auto in_time = spawn("in time", [&] { delay(1h); });
    spin();
  });
  EXPECT_EQ(failure.verdict, Verdict::Liveness);
  EXPECT_EQ(failure.message,
            "livelock: more than 2000 steps without an end, most of late by 'main'");
  EXPECT_EQ(failure.beneath, "");
}

TEST_F(HopelessTest, OfSeveralMachinesAllAreLookedAtWhenTimeIsUp) {
  const Failure failure = failure_of(
      [&] {
        world_.node("other", [] {
          Ring ring;
          ring.close();
          delay(1h);
          spin();
        });
        while (true) delay(1s);
      },
      {.time_limit = 100s});
  EXPECT_EQ(failure.message, "partial deadlock: 'other/left', 'other/right' can never go on");
}

TEST_F(HopelessTest, ALivelockTellsWhichFaultsWereStillGoing) {
  WorldOptions options{.faults = FaultSet::parse("point")};
  bool heals = false;
  const auto tries_for_ever = [&] {
    for (int i = 0;; ++i) {
      static_cast<void>(FERMATA_FAULT("answer.lost"));
      if (heals && i == 1'000) world_.heal();
      suspend();
    }
  };
  Failure failure = failure_of(tries_for_ever, options);
  for (; failure.beneath.empty() && seed_ < 100; ++seed_) {
    failure = failure_of(tries_for_ever, options);
  }
  EXPECT_EQ(failure.verdict, Verdict::Liveness);
  EXPECT_EQ(
      failure.beneath,
      "faults were still going (answer.lost): world.heal() ends them, and what should succeed "
      "then has to\n");
  heals = true;
  for (seed_ = 1; seed_ < 50; ++seed_) {
    EXPECT_EQ(failure_of(tries_for_ever, options).beneath, "");
  }
}

}  // namespace
}  // namespace fermata::sim
