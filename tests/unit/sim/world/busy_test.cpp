// SPDX-License-Identifier: Apache-2.0

// Coroutines that compute: time passes between a wake and the turn of who was woken.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/semaphore.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBusySeeds = 200;

class BusyTest : public test::WorldFixture {
 protected:
  /// A run in which steps may take time, and nothing else goes wrong.
  void begin_busy(std::uint64_t seed) { begin(seed, test::only(Fault::Busy)); }
  [[nodiscard]] std::uint64_t struck() const {
    return world_->fault_counts()[static_cast<std::size_t>(Fault::Busy)];
  }
};

TEST_F(BusyTest, TimePassesBetweenTheTurnsOfOneReadyQueue) {
  std::uint64_t passed = 0;
  for (std::uint64_t seed = 1; seed <= kBusySeeds; ++seed) {
    begin_busy(seed);
    world_->node("main", [&] {
      const Instant begun = now();
      for (int i = 0; i < 10; ++i) suspend();
      EXPECT_EQ(now() > begun, struck() > 0);
      passed += struck() > 0 ? 1 : 0;
    });
    run();
  }
  EXPECT_GT(passed, kBusySeeds / 10);
  EXPECT_LT(passed, kBusySeeds / 2);  // Half of all runs do not have it.
}

TEST_F(BusyTest, AStepTakesUpToFourMilliseconds) {
  Duration longest{};
  for (std::uint64_t seed = 1; seed <= kBusySeeds; ++seed) {
    begin_busy(seed);
    world_->node("main", [&] {
      for (int i = 0; i < 20; ++i) {
        const Instant before = now();
        suspend();
        longest = std::max(longest, now() - before);
      }
    });
    run();
  }
  EXPECT_GT(longest, 4ms);
  EXPECT_LT(longest, 5ms);
}

TEST_F(BusyTest, AnAnswerInTimeIsNoTimeoutHoweverLateItsTurnComes) {
  std::uint64_t late = 0;
  for (std::uint64_t seed = 1; seed <= kBusySeeds; ++seed) {
    begin_busy(seed);
    world_->node("main", [&] {
      Semaphore permits(0);
      const Instant begun = now();
      Coroutine<> waits = spawn([&] {
        permits.acquire(1, {.timeout = 2ms});
        late += now() > begun + 2ms ? 1 : 0;
      });
      suspend();
      const bool in_time = now() < begun + 2ms;
      permits.release();
      try {
        await(waits);
      } catch (const Timeout&) {
        EXPECT_FALSE(in_time);
      }
    });
    run();
  }
  EXPECT_GT(late, 0u);
}

TEST_F(BusyTest, TimersThatBecomeDueMeanwhileFireLater) {
  std::uint64_t late = 0;
  for (std::uint64_t seed = 1; seed <= kBusySeeds; ++seed) {
    begin_busy(seed);
    world_->node("main", [&] {
      std::vector<int> order;
      const Instant begun = now();
      const auto sleeper = [&](int number, Duration time) {
        return [&order, number, time] {
          delay(time);
          order.push_back(number);
        };
      };
      Coroutine<> second = spawn(sleeper(2, 2ms));
      Coroutine<> first = spawn(sleeper(1, 1ms));
      await(second);
      await(first);
      EXPECT_GE(now(), begun + 2ms);
      late += now() > begun + 2ms ? 1 : 0;
      EXPECT_EQ(order.size(), 2u);
    });
    run();
  }
  EXPECT_GT(late, 0u);
}

TEST_F(BusyTest, TheOthersDoFirstWhatTheyDoInThatTime) {
  for (std::uint64_t seed = 1; seed <= kBusySeeds; ++seed) {
    begin_busy(seed);
    Instant latest;
    const auto program = [&] {
      for (int i = 0; i < 10; ++i) {
        EXPECT_GE(now(), latest);
        latest = now();
        suspend();
      }
    };
    world_->node("one", program);
    world_->node("other", program);
    run();
  }
}

TEST_F(BusyTest, TimeThatPassesSoKeepsWithinTheLimit) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    begin_busy(seed);
    world_->node("main", [] {
      while (true) suspend();
    });
    world_->run();
    ASSERT_TRUE(world_->failure());
    EXPECT_EQ(world_->failure()->verdict, Verdict::Liveness);
  }
}

}  // namespace
}  // namespace fermata::sim
