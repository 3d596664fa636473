// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/coroutine.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cfenv>
#include <cstdlib>
#include <exception>
#include <memory>
#include <set>
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

class CoroutineTest : public RuntimeFixture {};

MAIN_TEST_F(CoroutineTest, GoesThroughItsLife) {
  FERMATA_CHECKS("CORE-CO-01", "CORE-CO-02");
  const auto event = make_event<PlainEvent>(runtime);
  int entered = 0;
  const auto child = spawn([&] {
    ++entered;
    EXPECT_TRUE(current_coroutine().is_running());
    EXPECT_FALSE(current_coroutine().is_suspended());
    wait(*event);
  });
  const auto states = [&] {
    return std::vector<bool>{child->is_started(), child->is_queued(), child->is_running(),
                             child->is_suspended(), child->is_completed()};
  };
  EXPECT_EQ(states(), (std::vector<bool>{false, true, false, false, false})) << "queued";
  suspend();
  EXPECT_EQ(states(), (std::vector<bool>{true, false, false, true, false})) << "waiting";
  event->notify({});
  EXPECT_EQ(states(), (std::vector<bool>{true, true, false, true, false})) << "woken";
  suspend();
  EXPECT_EQ(states(), (std::vector<bool>{true, false, false, false, true})) << "finished";
  suspend();
  EXPECT_EQ(entered, 1);
  EXPECT_TRUE(current_coroutine().is_main());
  EXPECT_FALSE(child->is_main());
}

TEST_F(CoroutineTest, NeverRunsInsideTheSpawn) {
  FERMATA_CHECKS("CORE-CO-17");
  std::vector<int> order;
  fixture.run([&] {
    for (int i = 1; i <= 4; ++i) spawn([&order, i] { order.push_back(i); });
    EXPECT_TRUE(order.empty());
    suspend();
    EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
  });
}

TEST_F(CoroutineTest, HasAnIdThatIsNeverUsedAgain) {
  FERMATA_CHECKS("CORE-CO-16");
  std::set<std::uint64_t> ids;
  std::size_t spawned = 0;
  for (int run = 0; run < 2; ++run) {
    fixture.run([&] {
      EXPECT_TRUE(ids.insert(current_coroutine().id()).second);
      for (int i = 0; i < 100; ++i, ++spawned) {
        const auto child = spawn([] {});
        EXPECT_TRUE(ids.insert(child->id()).second);
        await(child);
      }
    });
  }
  EXPECT_EQ(ids.size(), spawned + 2);
}

TEST_F(CoroutineTest, CountsInTheRegistryAndItsScope) {
  FERMATA_CHECKS("CORE-CO-12");
  fixture.run([this] {
    const detail::Scheduler& scheduler = runtime.scheduler();
    const auto expect_count = [&](std::size_t count) {
      EXPECT_EQ(runtime.registry().size(), count);
      EXPECT_EQ(scheduler.active_coroutine_count(), count);
      EXPECT_EQ(runtime.root_scope().member_count(), count);
    };
    expect_count(1);
    const auto first = spawn([] { delay(std::chrono::milliseconds(1)); });
    const auto second = spawn([] {});
    expect_count(3);
    await(second);
    expect_count(2);
    await(first);
    expect_count(1);
  });
  EXPECT_TRUE(runtime.registry().empty());
  EXPECT_EQ(runtime.scheduler().active_coroutine_count(), 0u);
}

TEST_F(CoroutineTest, RegistersNothingWhenTheSpawnFails) {
  FERMATA_CHECKS("CORE-CO-15");
  auto captured = std::make_shared<int>(1);
  const auto body = [captured] {};
  EXPECT_EQ(thrown_by([&] { spawn_in(runtime, {}, body); }),
            "fermata::UsageError: spawn: the runtime is not running");
  EXPECT_EQ(thrown_by([&] { spawn(body); }),
            "fermata::UsageError: no runtime is running on this thread: expected a call inside "
            "Runtime::run");
  EXPECT_TRUE(runtime.registry().empty());
  EXPECT_EQ(runtime.scheduler().active_coroutine_count(), 0u);
  EXPECT_TRUE(runtime.scheduler().ready().empty());
  EXPECT_EQ(runtime.blocks().blocks_in_use(), 0u);
  EXPECT_EQ(captured.use_count(), 2) << "the body that never ran is destroyed";
}

MAIN_TEST_F(CoroutineTest, DestroysItsBodyAtItsEndNotWithItsHandle) {
  const auto captured = std::make_shared<int>(1);
  const auto ran = spawn([captured] {});
  const auto cancelled = spawn([captured] {});
  cancelled.cancel();
  EXPECT_EQ(captured.use_count(), 3);
  suspend();
  EXPECT_EQ(captured.use_count(), 1);
}

MAIN_TEST_F(CoroutineTest, SaysWhoItIsAndWhatItWaitsFor) {
  const auto event = make_event<PlainEvent>(runtime);
  const auto named = spawn("reader", [&] { wait(*event); });
  const auto anonymous = spawn([] {});
  EXPECT_EQ(named->label(), "reader");
  EXPECT_EQ(named->name(), "reader");
  EXPECT_EQ(anonymous->label(), "coroutine " + std::to_string(anonymous->id()));
  const auto says = [&](const char* text) {
    EXPECT_NE(named->info().find(text), std::string::npos) << named->info();
  };
  says("'reader' spawned at tests/unit/core/coroutine_test.cpp:");
  says(", not started");
  suspend();
  says(", suspended at tests/unit/core/coroutine_test.cpp:");
  EXPECT_EQ(named->awaiting(), (std::vector<std::string>{event->info()}));
  EXPECT_NE(current_coroutine().info().find(", running"), std::string::npos);
  event->notify({});
  await(named);
  says(", finished");
  EXPECT_TRUE(named->awaiting().empty());
}

TEST_F(CoroutineTest, TellsItsSubscribersOfEveryKindOfEnd) {
  FERMATA_CHECKS("CORE-CO-18");
  std::vector<std::string> ends;
  std::vector<Subscription> subscriptions;
  const auto watch = [&](CoroutineBase& coroutine) {
    subscriptions.push_back(subscribe(coroutine, [&](Event& event, const Outcome& outcome) {
      if (outcome.error) event.mark_exception_handled();
      ends.push_back(static_cast<CoroutineBase&>(event).label() + ":" + message_of(outcome.error));
    }));
  };
  const auto until_deadlock = [this] {
    const auto never = make_event<PlainEvent>(runtime);
    wait(*never);
  };
  EXPECT_THROW(fixture.run([&] {
    watch(*spawn("returns", [] {}));
    watch(*spawn("throws", [] { throw Error("failed"); }));
    const auto cancelled = spawn("cancelled", [] { delay(std::chrono::hours(1)); });
    watch(*cancelled);
    suspend();
    cancelled.cancel();
    const auto ignored = spawn("ignored", [] {});
    watch(*ignored);
    ignored.cancel();
    watch(*spawn("deadlocked", until_deadlock));
  }),
               DeadlockError);
  EXPECT_EQ(ends, (std::vector<std::string>{
                      "returns:", "throws:failed", "cancelled:Coroutine cancelled",
                      "ignored:Coroutine cancelled", "deadlocked:Deadlock detected"}));
  ends.clear();
  fixture.run([&] {
    watch(*spawn("stopped", [] { delay(std::chrono::hours(1)); }));
    suspend();
    shutdown();
  });
  EXPECT_EQ(ends, (std::vector<std::string>{"stopped:Graceful shutdown"}));
}

MAIN_TEST_F(CoroutineTest, KeepsWhatItReturned) {
  FERMATA_CHECKS("CORE-CO-04");
  const auto child = spawn([] { return std::string("done"); });
  EXPECT_EQ(child->replay(), nullptr) << "no outcome before the end";
  await(child);
  ASSERT_NE(child->replay(), nullptr);
  EXPECT_EQ(child->replay()->result, &child->result());
  child.cancel();
  EXPECT_EQ(child->result(), "done");
  EXPECT_FALSE(child->is_cancelled());
  EXPECT_EQ(child->error(), nullptr);
}

int suspend_at_depth(int depth) {
  if (depth == 0) {
    suspend();
    return 0;
  }
  return 1 + suspend_at_depth(depth - 1);
}

MAIN_TEST_F(CoroutineTest, SuspendsAtAnyDepthAndInsideACFunction) {
  const auto deep = spawn([] { return suspend_at_depth(500); });
  const auto sorted = spawn([] {
    std::vector<int> values{5, 3, 9, 1, 7};
    std::qsort(values.data(), values.size(), sizeof(int), [](const void* a, const void* b) {
      suspend();
      return *static_cast<const int*>(a) - *static_cast<const int*>(b);
    });
    return values;
  });
  EXPECT_EQ(await(deep), 500);
  EXPECT_EQ(await(sorted), (std::vector{1, 3, 5, 7, 9}));
}

TEST_F(CoroutineTest, HasExceptionsOfItsOwn) {
  FERMATA_CHECKS("CORE-GL-14", "CORE-WK-14");
  const auto rethrows = [](const char* text) {
    return [text] {
      std::string caught;
      try {
        try {
          throw Error(text);
        } catch (...) {
          for (int i = 0; i < 3; ++i) suspend();
          throw;
        }
      } catch (const Error& error) {
        caught = error.what();
      }
      return caught;
    };
  };
  fixture.run([&] {
    const auto first = spawn(rethrows("first"));
    const auto second = spawn(rethrows("second"));
    EXPECT_EQ(await(first), "first");
    EXPECT_EQ(await(second), "second");
  });
}

// The first hands its context to the second, and that leaves it to the third.
TEST_F(CoroutineTest, InheritsNothingFromWhoeverHadItsContext) {
  struct Seen {
    int rounding = FE_UPWARD;
    int error_number = EPIPE;
  };
  const auto spoils = [] {
    const Seen seen{std::fegetround(), errno};
    std::fesetround(FE_UPWARD);
    errno = EPIPE;
    return seen;
  };
  fixture.run([&] {
    const auto first = spawn(spoils);
    const auto second = spawn(spoils);
    std::vector<Seen> all = {await(first), await(second)};
    all.push_back(await(spawn(spoils)));
    for (const Seen& seen : all) {
      EXPECT_EQ(seen.rounding, FE_TONEAREST);
      EXPECT_EQ(seen.error_number, 0);
    }
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  });
}

}  // namespace
}  // namespace fermata::test
