// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/condition.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/cutter.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

class ConditionTest : public RuntimeFixture {
 protected:
  struct Shared {
    Mutex mutex{"guard"};
    Condition changed{"changed", {"queue.cpp", "", 9}};
    Names woken;
  };

  /// Waits once; whatever the end, it holds the mutex then.
  static Coroutine<std::string> spawn_waiter(Shared& shared, const char* name,
                                             WaitOptions options = {}) {
    return spawn(std::string(name), [&shared, name, options] {
      const Mutex::Guard guard(shared.mutex);
      const std::string end = thrown_by([&] { shared.changed.wait(shared.mutex, options); });
      EXPECT_TRUE(shared.mutex.is_held_by_caller());
      if (end.empty()) shared.woken.emplace_back(name);
      return end;
    });
  }
};

MAIN_TEST_F(ConditionTest, WakesInTheOrderOfWaiting) {
  Shared shared;
  const auto a = spawn_waiter(shared, "a");
  const auto b = spawn_waiter(shared, "b");
  const auto c = spawn_waiter(shared, "c");
  suspend();
  shared.changed.notify_one();
  await(a);
  suspend();
  EXPECT_EQ(shared.woken, Names{"a"}) << "one is woken by one notify";
  shared.changed.notify_all();
  await(b);
  await(c);
  EXPECT_EQ(shared.woken, (Names{"a", "b", "c"}));
  shared.changed.notify_one();
  EXPECT_EQ(shared.changed.info(), "Condition 'changed' created at queue.cpp:9")
      << "a notify that finds nobody is gone";
}

MAIN_TEST_F(ConditionTest, FreesTheMutexWhileItWaits) {
  Shared shared;
  const auto waiter = spawn_waiter(shared, "waiter");
  suspend();
  {
    const Mutex::Guard guard(shared.mutex);
    shared.changed.notify_one();
    suspend();
    EXPECT_TRUE(shared.woken.empty()) << "it needs the mutex to go on";
    EXPECT_EQ(waiter->awaiting(), Names{shared.mutex.info()});
  }
  await(waiter);
}

MAIN_TEST_F(ConditionTest, WaitsForAPredicate) {
  Shared shared;
  int value = 0;
  const auto waiter = spawn([&] {
    std::unique_lock lock(shared.mutex);
    shared.changed.wait(lock, [&] { return value >= 3; });
    EXPECT_TRUE(lock.owns_lock());
    return value;
  });
  for (int i = 0; i < 5; ++i) {
    suspend();
    const Mutex::Guard guard(shared.mutex);
    ++value;
    shared.changed.notify_all();
  }
  EXPECT_GE(await(waiter), 3);
  const Mutex::Guard guard(shared.mutex);
  shared.changed.wait(shared.mutex, [] { return true; });
}

MAIN_TEST_F(ConditionTest, TakesOptionsWithALockOfTheStandard) {
  Shared shared;
  std::unique_lock lock(shared.mutex);
  EXPECT_THROW(shared.changed.wait(lock, {.timeout = 5ms}), Timeout);
  EXPECT_THROW(shared.changed.wait(lock, [] { return false; }, {.timeout = 5ms}), Timeout);
  shared.changed.wait(lock, [] { return true; }, {.timeout = 5ms});
  EXPECT_TRUE(lock.owns_lock());
}

MAIN_TEST_F(ConditionTest, HasOneTimeoutForAllThatAPredicateTakes) {
  Shared shared;
  const auto nudger = spawn([&] {
    for (int i = 0; i < 9; ++i) {
      delay(3ms);
      shared.changed.notify_all();
    }
  });
  {
    const Mutex::Guard guard(shared.mutex);
    const Instant start = now();
    EXPECT_EQ(thrown_by([&] {
                shared.changed.wait(shared.mutex, [] { return false; }, {.timeout = 10ms});
              }),
              "fermata::Timeout: Timeout occurred after 10 milliseconds");
    EXPECT_EQ(now() - start, 10ms);
    shared.changed.wait(shared.mutex, [&] { return now() - start >= 12ms; }, {.timeout = 2ms});
  }
  await(nudger);
}

MAIN_TEST_F(ConditionTest, HoldsTheMutexAfterATimeoutATokenAndACancellation) {
  Shared shared;
  const auto token = spawn([] { delay(1ms); });
  const auto timed = spawn_waiter(shared, "timed", {.timeout = 2ms});
  const auto tokened = spawn_waiter(shared, "tokened", {.token = &*token});
  const auto cancelled = spawn_waiter(shared, "cancelled");
  suspend();
  cancelled.cancel();
  EXPECT_EQ(await(timed), "fermata::Timeout: Timeout occurred after 2 milliseconds");
  EXPECT_EQ(await(tokened), "fermata::OperationCancelled: Operation has been cancelled");
  EXPECT_EQ(await(cancelled), "fermata::Cancellation: Coroutine cancelled");
  EXPECT_FALSE(shared.mutex.is_locked());
}

MAIN_TEST_F(ConditionTest, WaitsForTheMutexAlsoWhenItIsCancelled) {
  Shared shared;
  const auto waiter = spawn_waiter(shared, "waiter");
  suspend();
  {
    const Mutex::Guard guard(shared.mutex);
    waiter.cancel();
    delay(1ms);
    EXPECT_FALSE(waiter->is_completed());
    waiter.cancel();
    delay(1ms);
    EXPECT_FALSE(waiter->is_completed()) << "a second one does not help either";
  }
  EXPECT_EQ(await(waiter), "fermata::Cancellation: Coroutine cancelled");
}

MAIN_TEST_F(ConditionTest, KeepsATimeoutAsThePreviousOfACancellation) {
  Shared shared;
  const auto waiter = spawn_waiter(shared, "waiter", {.timeout = 1ms});
  suspend();
  {
    const Mutex::Guard guard(shared.mutex);
    delay(2ms);
    waiter.cancel();
  }
  EXPECT_EQ(await(waiter),
            "fermata::Cancellation: Coroutine cancelled\n  previous: fermata::Timeout: Timeout "
            "occurred after 1 milliseconds");
}

// The token ends the wait; a cancellation of the coroutine itself is more than that.
MAIN_TEST_F(ConditionTest, KeepsATokenAsThePreviousOfACancellation) {
  FERMATA_CHECKS("CORE-CN-11");
  Shared shared;
  const auto token = spawn([] { delay(1ms); });
  const auto waiter = spawn_waiter(shared, "waiter", {.token = &*token});
  suspend();
  {
    const Mutex::Guard guard(shared.mutex);
    delay(2ms);
    waiter.cancel();
  }
  EXPECT_EQ(await(waiter),
            "fermata::Cancellation: Coroutine cancelled\n  previous: fermata::OperationCancelled: "
            "Operation has been cancelled");
}

MAIN_TEST_F(ConditionTest, GivesANotifyThatCameTooLateToTheNext) {
  Shared shared;
  const auto a = spawn_waiter(shared, "a");
  const auto b = spawn_waiter(shared, "b");
  suspend();
  shared.changed.notify_one();
  a.cancel();
  EXPECT_EQ(await(b), "");
  EXPECT_EQ(await(a), "fermata::Cancellation: Coroutine cancelled");
  EXPECT_EQ(shared.woken, Names{"b"});
}

MAIN_TEST_F(ConditionTest, GivesOnANotifyWhoseWaiterIsCancelledBeforeItHasTheMutex) {
  Shared shared;
  const auto a = spawn_waiter(shared, "a");
  const auto b = spawn_waiter(shared, "b");
  suspend();
  {
    const Mutex::Guard guard(shared.mutex);
    shared.changed.notify_one();
    suspend();
    a.cancel();
    suspend();
  }
  EXPECT_EQ(await(b), "");
  EXPECT_EQ(await(a), "fermata::Cancellation: Coroutine cancelled");
}

MAIN_TEST_F(ConditionTest, LooksAtItsOptionsBeforeItUnlocks) {
  FERMATA_CHECKS("EVT-06");
  Shared shared;
  const auto fired = spawn([] {});
  await(fired);
  std::unique_lock lock(shared.mutex);
  const auto rival = spawn([&] { const Mutex::Guard other(shared.mutex); });
  suspend();
  EXPECT_EQ(thrown_by([&] { shared.changed.wait(shared.mutex, {.timeout = 0ms}); }),
            "fermata::Timeout: Timeout occurred after 0 milliseconds");
  EXPECT_THROW(shared.changed.wait(shared.mutex, {.token = &*fired}), OperationCancelled);
  EXPECT_THROW(shared.changed.wait(shared.mutex, {.timeout = -1ms}), UsageError);
  EXPECT_FALSE(rival->is_completed()) << "the mutex was ours all the time";
  lock.unlock();
  await(rival);
}

MAIN_TEST_F(ConditionTest, NeedsTheMutex) {
  Shared shared;
  const std::string refused = thrown_by([&] {
    shared.changed.wait(shared.mutex, {}, {"queue.cpp", "", 20});
  });
  EXPECT_EQ(refused.find("fermata::UsageError: Condition 'changed' created at queue.cpp:9: wait "
                         "at queue.cpp:20 by 'main' without the mutex: Mutex 'guard' "),
            0u)
      << refused;
  std::unique_lock lock(shared.mutex, std::defer_lock);
  EXPECT_EQ(thrown_by([&] { shared.changed.wait(lock); }),
            "fermata::UsageError: a condition waits with a lock that owns its mutex");
}

TEST_F(ConditionTest, EndsWithTheRunWhenNobodyEverNotifies) {
  const auto shared = std::make_shared<std::unique_ptr<Shared>>();
  std::string end;
  EXPECT_THROW(fixture.run([&] {
    *shared = std::make_unique<Shared>();
    spawn("holder", [&] {
      const Mutex::Guard guard((*shared)->mutex);
      (*shared)->changed.notify_all();
      for (int i = 0; i < 3; ++i) {
        try {
          wait(*make_event<PlainEvent>(fixture.runtime));
        } catch (const Cancellation&) {
        }
      }
    });
    std::unique_lock lock((*shared)->mutex);
    end = thrown_by([&] { (*shared)->changed.wait(lock); });
    EXPECT_FALSE(lock.owns_lock()) << "the holder never lets go";
  }),
               DeadlockError);
  EXPECT_NE(end, "");
  shared->reset();
}

TEST(ConditionByForce, LeavesTheMutexToOthers) {
  Cutter cutter;
  RuntimeOptions options;
  options.observer = &cutter;
  TestRuntime fixture(options);
  bool cut = false;
  cutter.when = [&] { return cut; };
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto mutex = std::make_shared<Mutex>();
                const auto changed = std::make_shared<Condition>();
                std::vector<Coroutine<>> users;
                for (int i = 0; i < 3; ++i) {
                  users.push_back(spawn([=] {
                    std::unique_lock lock(*mutex);
                    changed->wait(lock);
                  }));
                  users.push_back(spawn([=] {
                    const Mutex::Guard guard(*mutex);
                    changed->wait(*mutex);
                  }));
                }
                suspend();
                const Mutex::Guard guard(*mutex);
                changed->notify_one();
                cut = true;
                await(users[0]);
              });
            }),
            "fermata::backend::AbandonRun");
  EXPECT_EQ(fixture.log, "");
}

}  // namespace
}  // namespace fermata::test
