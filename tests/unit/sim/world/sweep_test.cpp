// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/semaphore.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class SweepTest : public ::testing::Test {
 protected:
  void SetUp() override { decisions_.begin(1); }

  /// Sweeps over `program` as the one thing that a run does.
  SweepCounts sweep(const std::function<void()>& program, const SweepSequel& sequel = {}) {
    SweepCounts counts;
    world_.node("main", [&] { counts = world_.sweep_cancellation(program, sequel); });
    world_.run();
    return counts;
  }

  std::unique_ptr<Strategy> strategy_ = make_strategy("fifo");
  Decisions decisions_{*strategy_};
  World world_{decisions_, {.faults = FaultSet::none()}};
};

TEST_F(SweepTest, InterruptsEachSuspensionOnce) {
  std::vector<std::string> ends;
  int checks = 0;
  const SweepCounts counts = sweep(
      [&] {
        try {
          delay(1ms);
          delay(1ms);
          ends.emplace_back("returned");
        } catch (const Cancellation&) {
          ends.emplace_back("cancelled");
          throw;
        }
      },
      {.check = [&] { ++checks; }});
  EXPECT_FALSE(world_.failure());
  EXPECT_EQ(counts.cancellations, 2u);
  EXPECT_EQ(counts.late_cancellations, 2u);
  EXPECT_EQ(counts.timeouts, 0u) << "a delay has no timeout";
  EXPECT_EQ(counts.runs, 3u + 3u + 1u) << "the last one of each kind comes to no point";
  EXPECT_EQ(checks, 7);
  EXPECT_EQ(ends, (std::vector<std::string>{"cancelled", "cancelled", "returned", "cancelled",
                                            "cancelled", "returned", "returned"}));
}

TEST_F(SweepTest, LetsTimeoutsPassWhereThereAreAny) {
  const SweepCounts counts = sweep([] {
    const auto job = spawn("job", [] { delay(1s); });
    await(job, {.timeout = 1h});
  });
  EXPECT_FALSE(world_.failure());
  EXPECT_EQ(counts.timeouts, 1u);
  EXPECT_EQ(counts.cancellations, 2u) << "of both coroutines";
}

TEST_F(SweepTest, FindsWhatAnInterruptionBreaks) {
  bool locked = false;
  sweep(
      [&] {
        locked = true;
        delay(1ms);  // A cancellation here leaves it locked.
        locked = false;
      },
      {.check = [&] {
        if (locked) world_.fail(Verdict::Safety, "left locked");
        locked = false;
      }});
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->message, "left locked");
}

TEST_F(SweepTest, NamesTheInterruptionThatAProgramFailsWith) {
  sweep([] {
    try {
      delay(1ms);
      delay(1ms);
    } catch (const Cancellation&) {
      throw Error("cannot be stopped");
    }
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->message,
            "sweep: 'swept' fails when suspension 1 is cancelled: "
            "fermata::Error: cannot be stopped");
}

TEST_F(SweepTest, EndsWhatTheProgramLeavesBehind) {
  int ended = 0;
  sweep([&] {
    spawn("left behind", [&] {
      try {
        delay(24h);
      } catch (const Cancellation&) {
        ++ended;
        throw;
      }
    });
    suspend();
  });
  EXPECT_FALSE(world_.failure());
  EXPECT_GT(ended, 2);
  EXPECT_LT(world_.now(), Instant{} + Duration(24h));
}

TEST_F(SweepTest, LetsSomebodyElseFollowEachRun) {
  std::string order;
  const SweepCounts counts = sweep(
      [&] {
        order += 'p';
        spawn("left behind", [&] {
          const struct End {
            std::string& text;
            ~End() { text += 'e'; }
          } end{order};
          delay(24h);
        });
        suspend();
      },
      {.then =
           [&] {
             delay(1ms);  // Nobody interrupts it.
             order += 't';
           },
       .check = [&] { order += 'c'; }});
  EXPECT_FALSE(world_.failure());
  std::string expected;
  for (std::uint64_t i = 0; i < counts.runs; ++i) expected += "petc";
  EXPECT_EQ(order, expected);
}

TEST_F(SweepTest, SaysAfterWhatTheNextOneFails) {
  bool left = false;
  sweep(
      [&] {
        left = true;
        delay(1ms);
        delay(1ms);
        left = false;
      },
      {.then = [&] {
        if (left) throw Error("occupied");
      }});
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->message,
            "sweep: 'next after suspension 1 was cancelled' fails: fermata::Error: occupied");
  EXPECT_NE(world_.failure()->explanation.find("'swept'"), std::string::npos);
}

TEST_F(SweepTest, DoesNotLetTheNextOneWaitForEver) {
  sweep([] { delay(1ms); }, {.then = [] {
          Semaphore permits(0);
          permits.acquire();
        }});
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Deadlock);
  EXPECT_NE(world_.failure()->explanation.find("next after suspension 1 was cancelled"),
            std::string::npos);
}

TEST_F(SweepTest, TellsOfACancellationThatTheNextOneGets) {
  sweep([] { delay(1ms); }, {.then = [] {
          current_runtime().current()->cancel();
          suspend();
        }});
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->message.rfind("sweep: 'next", 0), 0u);
}

TEST_F(SweepTest, LeavesNothingWhereverTheRunIsEnded) {
  const auto trace_hash = [this](std::uint64_t steps) {
    decisions_.begin(1);
    world_.reset({.step_limit = steps, .faults = FaultSet::none()});
    sweep([] { delay(1ms); });
    return world_.trace_hash();
  };
  const std::uint64_t at_first = trace_hash(1'000);
  for (std::uint64_t steps = 1; steps < 20; ++steps) {
    trace_hash(steps);
    EXPECT_EQ(trace_hash(1'000), at_first) << "after " << steps << " steps";
  }
}

TEST_F(SweepTest, IsNotSweptItself) {
  std::string refused;
  sweep([&] {
    try {
      world_.sweep_cancellation([] {});
    } catch (const UsageError& error) {
      refused = error.what();
    }
  });
  EXPECT_EQ(refused, "sweep_cancellation: expected a call outside of a program that is swept");
}

}  // namespace
}  // namespace fermata::sim
