// SPDX-License-Identifier: Apache-2.0

// Who runs next, at what cost, and when the reactor is looked at.

#include "fermata/core/scheduler.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Order = std::vector<std::string>;

class SchedulerTest : public RuntimeFixture {
 protected:
  [[nodiscard]] std::uint64_t switches() const { return runtime.metrics().switches; }
  template <class F>
  auto spawn_high(std::string name, F body) {
    return spawn(SpawnOptions{name, Priority::High, {}, nullptr}, body);
  }

  Order order;
};

MAIN_TEST_F(SchedulerTest, ReturnsAtOnceToWhoYieldsAlone) {
  FERMATA_CHECKS("CORE-SC-07");
  const auto before = switches();
  for (int i = 0; i < 100; ++i) suspend();
  EXPECT_EQ(switches(), before);
}

MAIN_TEST_F(SchedulerTest, SwitchesOnceForEachHop) {
  FERMATA_CHECKS("CORE-SC-07", "CORE-SC-21");
  bool stop = false;
  const auto other = spawn("other", [&] {
    while (!stop) {
      EXPECT_EQ(runtime.current()->name(), "other");
      suspend();
    }
  });
  suspend();
  const auto before = switches();
  for (int i = 0; i < 1000; ++i) {
    suspend();
    EXPECT_TRUE(current_coroutine().is_main());
  }
  EXPECT_EQ(switches() - before, 2000u);
  stop = true;
  await(other);
}

TEST_F(SchedulerTest, HandsTheContextOfTheFinishedToTheNext) {
  FERMATA_CHECKS("CORE-SC-07", "CORE-SC-16", "CORE-SC-14");
  constexpr std::size_t kMany = 10'000;
  std::size_t ran = 0;
  fixture.run([&] {
    for (std::size_t i = 0; i < kMany; ++i) spawn([&ran] { ++ran; });
    const auto before = switches();
    suspend();
    EXPECT_EQ(ran, kMany);
    EXPECT_EQ(switches() - before, 2u) << "there and back";
    EXPECT_LE(runtime.scheduler().contexts().stats().peak, 2u);
  });
  const auto stats = runtime.scheduler().contexts().stats();
  EXPECT_EQ(stats.live, 0u);
  EXPECT_LE(stats.created_total, 2u);
}

TEST_F(SchedulerTest, NeedsNoMoreContextsThanRunAtOnce) {
  FERMATA_CHECKS("CORE-SC-16", "CORE-SC-14");
  fixture.run([this] {
    for (int round = 0; round < 20; ++round) {
      std::vector<Coroutine<>> sleepers;
      for (int i = 0; i < 50; ++i) sleepers.push_back(spawn([] { delay(1ms); }));
      for (const auto& each : sleepers) await(each);
    }
    EXPECT_LE(runtime.scheduler().contexts().stats().peak, 51u);
  });
  EXPECT_EQ(runtime.scheduler().contexts().stats().live, 0u);
}

TEST_F(SchedulerTest, RunsInTheOrderOfTheQueue) {
  FERMATA_CHECKS("CORE-SC-02", "CORE-GL-07");
  fixture.run([this] {
    const auto turns = [this](std::string name) {
      return [this, name] {
        for (int i = 0; i < 3; ++i) {
          order.push_back(name);
          suspend();
        }
      };
    };
    for (const char* name : {"a", "b", "c"}) spawn(turns(name));
    for (int i = 0; i < 4; ++i) suspend();
  });
  EXPECT_EQ(order, (Order{"a", "b", "c", "a", "b", "c", "a", "b", "c"}));
}

TEST_F(SchedulerTest, RunsTheLastOfHighPriorityFirst) {
  FERMATA_CHECKS("CORE-SC-03");
  fixture.run([this] {
    spawn([this] { order.emplace_back("normal"); });
    for (const char* name : {"high 1", "high 2"}) {
      spawn_high(name, [this, name] { order.emplace_back(name); });
    }
    suspend();
  });
  EXPECT_EQ(order, (Order{"high 2", "high 1", "normal"}));
}

TEST_F(SchedulerTest, PutsAWokenHighOneFirst) {
  FERMATA_CHECKS("CORE-SC-03");
  fixture.run([this] {
    const auto event = make_event<PlainEvent>(runtime);
    const auto high = spawn_high("high", [&] {
      wait(*event);
      order.emplace_back("high");
    });
    suspend();
    spawn([this] { order.emplace_back("normal"); });
    event->notify({});
    suspend();
  });
  EXPECT_EQ(order, (Order{"high", "normal"}));
}

MAIN_TEST_F(SchedulerTest, DoesNotLetAYieldingHighOneStarveTheRest) {
  FERMATA_CHECKS("CORE-GL-07");
  bool stop = false;
  int turns = 0;
  const auto high = spawn_high("high", [&] {
    while (!stop) {
      ++turns;
      suspend();
    }
  });
  const auto normal = spawn([&] { stop = true; });
  await(high);
  EXPECT_EQ(turns, 1);
}

MAIN_TEST_F(SchedulerTest, FiresTimersWhileSomebodyYieldsForEver) {
  FERMATA_CHECKS("CORE-SC-09");
  bool fired = false;
  Instant fired_at;
  const Instant start = now();
  const auto sleeper = spawn([&] {
    delay(50ms);
    fired = true;
    fired_at = now();
  });
  suspend();
  int ticks_when_due = 0;
  while (!fired) {
    fixture.reactor->advance(1ms);
    if (now() - start > 50ms) ++ticks_when_due;
    suspend();
  }
  EXPECT_LE(ticks_when_due, 62);
  EXPECT_LT(fired_at - start, 150ms);
}

TEST_F(SchedulerTest, BlocksOnlyWhenThereIsNothingElseToDo) {
  FERMATA_CHECKS("CORE-SC-08", "RX-02", "RX-03");
  fixture.reactor->on_block = [this] {
    EXPECT_TRUE(runtime.scheduler().ready().empty());
    EXPECT_TRUE(runtime.scheduler().microtasks().empty());
    EXPECT_GT(runtime.active_event_count(), 0u);
  };
  fixture.run([] {
    for (int i = 0; i < 10; ++i) {
      spawn([i] {
        delay(std::chrono::milliseconds(i % 3));
        suspend();
        delay(std::chrono::milliseconds(i % 4));
      });
    }
  });
  EXPECT_GT(fixture.reactor->blocking_turns, 0);
  EXPECT_EQ(runtime.metrics().blocking_polls,
            static_cast<std::uint64_t>(fixture.reactor->blocking_turns));
}

TEST_F(SchedulerTest, LeavesNothingBehind) {
  FERMATA_CHECKS("CORE-SC-14", "CORE-GL-09", "CORE-EV-10");
  fixture.run([] {
    const auto sleeper = spawn([] { delay(5ms); });
    spawn([] { suspend(); });
    spawn([] {}).cancel();
    await(sleeper);
  });
  EXPECT_FALSE(runtime.is_running());
  EXPECT_TRUE(runtime.registry().empty());
  EXPECT_TRUE(runtime.scheduler().ready().empty());
  EXPECT_TRUE(runtime.scheduler().microtasks().empty());
  EXPECT_EQ(runtime.active_event_count(), 0u);
  EXPECT_EQ(runtime.timers().size(), 0u);
  EXPECT_EQ(runtime.kernel().live_events.size(), 0u);
  EXPECT_EQ(runtime.blocks().blocks_in_use(), 0u);
  EXPECT_EQ(runtime.scheduler().contexts().stats().live, 0u);
  EXPECT_EQ(runtime.metrics().spawned, runtime.metrics().finished);
}

TEST_F(SchedulerTest, RunsUntilTheLastCoroutineHasEnded) {
  FERMATA_CHECKS("CORE-GL-09");
  bool ended = false;
  EXPECT_EQ(fixture.run([&] {
    spawn([&] {
      delay(1h);
      ended = true;
    });
    return 3;
  }),
            3);
  EXPECT_TRUE(ended);
}

TEST_F(SchedulerTest, RefusesToSuspendWhereNoCoroutineRuns) {
  FERMATA_CHECKS("CORE-SC-19", "CORE-GL-15");
  std::string in_turn;
  bool empty = false;
  fixture.reactor->on_turn = [&] {
    in_turn = thrown_by([] { suspend(); });
    empty = runtime.current() == nullptr;
  };
  fixture.run([] { delay(1ms); });
  EXPECT_TRUE(empty);
  EXPECT_EQ(in_turn,
            "fermata::UsageError: suspend: the scheduler's own context and callbacks must not "
            "suspend");
  EXPECT_EQ(thrown_by([] { suspend(); }),
            "fermata::UsageError: no runtime is running on this thread: expected a call inside "
            "Runtime::run");
}

MAIN_TEST_F(SchedulerTest, RefusesToRunTwiceAtOnce) {
  EXPECT_EQ(thrown_by([this] { runtime.run([] {}); }),
            "fermata::UsageError: run: the runtime is running already");
  suspend();
}

TEST_F(SchedulerTest, RunsARuntimeInsideACoroutineOfAnother) {
  TestRuntime inner;
  fixture.run([&] {
    const auto host = spawn([&] {
      return inner.run([&] {
        delay(5ms);
        EXPECT_EQ(&current_runtime(), &inner.runtime);
        return 11;
      });
    });
    EXPECT_EQ(await(host), 11);
    EXPECT_EQ(&current_runtime(), &runtime);
  });
}

}  // namespace
}  // namespace fermata::test
