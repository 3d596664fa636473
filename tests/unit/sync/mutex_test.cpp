// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/mutex.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/barrier.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/condition.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/once.hpp"
#include "fermata/sync/semaphore.hpp"
#include "fermata/sync/task_group.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/cutter.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class MutexTest : public RuntimeFixture {
 protected:
  /// Notes its name while it holds `mutex` for `steps` steps.
  Coroutine<> spawn_user(Mutex& mutex, const char* name, int steps = 0) {
    return spawn(std::string(name), [this, &mutex, name, steps] {
      const Mutex::Guard guard(mutex);
      order.emplace_back(name);
      for (int i = 0; i < steps; ++i) suspend();
    });
  }

  std::vector<std::string> order;
};

const SourcePlace kMadeInBank{"bank.cpp", "", 12};
const SourcePlace kLockedInBank{"bank.cpp", "", 31};

MAIN_TEST_F(MutexTest, LetsOneInAtATime) {
  Mutex mutex;
  int inside = 0;
  std::vector<Coroutine<>> users;
  for (int i = 0; i < 5; ++i) {
    users.push_back(spawn([&] {
      for (int turn = 0; turn < 3; ++turn) {
        const std::lock_guard guard(mutex);
        EXPECT_EQ(++inside, 1);
        suspend();
        --inside;
      }
    }));
  }
  for (const auto& user : users) await(user);
  EXPECT_FALSE(mutex.is_locked());
}

MAIN_TEST_F(MutexTest, NeitherSuspendsNorSwitchesWhenItIsFree) {
  Mutex mutex;
  const auto other = spawn([] {});
  const Metrics before = runtime.metrics();
  mutex.lock();
  EXPECT_TRUE(mutex.is_held_by_caller());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
  mutex.lock({.timeout = 0ms});
  mutex.unlock();
  EXPECT_EQ(runtime.metrics().ticks, before.ticks);
  await(other);
}

MAIN_TEST_F(MutexTest, WorksWithTheLocksOfTheStandard) {
  Mutex one;
  Mutex two;
  {
    const std::lock_guard guard(one);
    std::unique_lock lock(two, std::try_to_lock);
    EXPECT_TRUE(lock.owns_lock());
    lock.unlock();
    EXPECT_FALSE(two.is_locked());
    lock.lock();
  }
  const std::scoped_lock both(one, two);
  EXPECT_TRUE(one.is_held_by_caller());
}

MAIN_TEST_F(MutexTest, IsMadeInPlaceAsItsSiblingsAre) {
  EXPECT_NE(std::make_shared<Mutex>("ledger")->info().find("'ledger'"), std::string::npos);
  const auto named = [](const auto& made) { return made != nullptr; };
  EXPECT_TRUE(named(std::make_shared<Semaphore>("permits", 2u)));
  EXPECT_TRUE(named(std::make_shared<Condition>("changed")));
  EXPECT_TRUE(named(std::make_shared<Once>("opening")));
  EXPECT_TRUE(named(std::make_shared<Barrier>("phase", 2u)));
  EXPECT_TRUE(named(std::make_shared<Channel<int>>("jobs", 2u)));
  EXPECT_TRUE(named(std::make_shared<TaskGroup<>>("tasks")));
  EXPECT_TRUE(named(std::make_shared<Promise<int>>("answer")));
  std::string text = "of a string";
  EXPECT_NE(std::make_shared<Mutex>(text)->info().find("'of a string'"), std::string::npos);
}

MAIN_TEST_F(MutexTest, ServesInTheOrderOfArrival) {
  Mutex mutex;
  mutex.lock();
  const auto a = spawn_user(mutex, "a");
  const auto b = spawn_user(mutex, "b");
  const auto c = spawn_user(mutex, "c");
  suspend();
  mutex.unlock();
  for (const auto& user : {a, b, c}) await(user);
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "c"}));
}

MAIN_TEST_F(MutexTest, HandsOverSoThatNobodyCanBarge) {
  Mutex mutex;
  mutex.lock();
  const auto waiter = spawn_user(mutex, "waiter");
  suspend();
  mutex.unlock();
  EXPECT_TRUE(mutex.is_locked()) << "it is the waiter's, which has not run yet";
  EXPECT_FALSE(mutex.try_lock());
  {
    const Mutex::Guard guard(mutex);
    EXPECT_EQ(order, std::vector<std::string>{"waiter"}) << "the one who unlocked comes second";
  }
  await(waiter);
}

MAIN_TEST_F(MutexTest, GoesToTheNextWhenTheOneItWasHandedToIsCancelled) {
  Mutex mutex;
  mutex.lock();
  const auto a = spawn_user(mutex, "a");
  const auto b = spawn_user(mutex, "b");
  suspend();
  mutex.unlock();
  a.cancel();
  await(b);
  EXPECT_THROW(await(a), Cancellation);
  EXPECT_EQ(order, std::vector<std::string>{"b"});
  EXPECT_FALSE(mutex.is_locked());
}

MAIN_TEST_F(MutexTest, PassesOverAWaiterThatIsCancelledAndHasNotRunYet) {
  Mutex mutex;
  mutex.lock();
  const auto a = spawn_user(mutex, "a");
  const auto b = spawn_user(mutex, "b");
  suspend();
  a.cancel();
  mutex.unlock();
  await(b);
  EXPECT_THROW(await(a), Cancellation);
  EXPECT_EQ(order, std::vector<std::string>{"b"});
}

MAIN_TEST_F(MutexTest, IsFreeWhenEverybodyWhoWaitedHasGone) {
  Mutex mutex;
  mutex.lock();
  const auto a = spawn_user(mutex, "a");
  suspend();
  a.cancel();
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
  EXPECT_THROW(await(a), Cancellation);
  EXPECT_TRUE(order.empty());
}

MAIN_TEST_F(MutexTest, GivesUpAfterItsTimeout) {
  Mutex mutex;
  mutex.lock();
  await(spawn([&] {
    const Instant start = now();
    EXPECT_EQ(thrown_by([&] { mutex.lock({.timeout = 10ms}); }),
              "fermata::Timeout: Timeout occurred after 10 milliseconds");
    EXPECT_EQ(now() - start, 10ms);
    EXPECT_THROW(mutex.lock({.timeout = 0ms}), Timeout);
    EXPECT_EQ(now() - start, 10ms) << "zero never parks";
    EXPECT_THROW(mutex.lock({.timeout = -1ns}), UsageError);
    EXPECT_FALSE(mutex.is_held_by_caller());
  }));
  mutex.unlock();
}

MAIN_TEST_F(MutexTest, LooksAtTheTokenFirst) {
  FERMATA_CHECKS("EVT-06", "EVT-07");
  Mutex mutex;
  const auto fired = spawn([] {});
  await(fired);
  EXPECT_THROW(mutex.lock({.token = &*fired}), OperationCancelled);
  EXPECT_FALSE(mutex.is_locked());
}

MAIN_TEST_F(MutexTest, EndsAWaitWhoseTokenFires) {
  Mutex mutex;
  mutex.lock();
  const auto token = spawn([] { delay(5ms); });
  await(spawn([&] {
    EXPECT_EQ(thrown_by([&] { mutex.lock({.token = &*token}); }),
              "fermata::OperationCancelled: Operation has been cancelled");
  }));
  mutex.unlock();
}

MAIN_TEST_F(MutexTest, IsNotRecursive) {
  Mutex mutex("ledger", kMadeInBank);
  mutex.lock({}, kLockedInBank);
  EXPECT_EQ(thrown_by([&] {
              mutex.lock({}, {"bank.cpp", "", 40});
            }),
            "fermata::UsageError: Mutex 'ledger' created at bank.cpp:12: lock at bank.cpp:40 by "
            "its holder, 'main' since bank.cpp:31: a mutex is not recursive");
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
}

MAIN_TEST_F(MutexTest, IsUnlockedByItsHolderOnly) {
  Mutex mutex("ledger", kMadeInBank);
  EXPECT_EQ(thrown_by([&] { mutex.unlock(); }),
            "fermata::UsageError: Mutex 'ledger' created at bank.cpp:12: unlock by 'main': "
            "expected its holder, nobody");
  mutex.lock({}, kLockedInBank);
  await(spawn("thief", [&] {
    EXPECT_EQ(thrown_by([&] { mutex.unlock(); }),
              "fermata::UsageError: Mutex 'ledger' created at bank.cpp:12: unlock by 'thief': "
              "expected its holder, 'main' since bank.cpp:31");
  }));
  EXPECT_TRUE(mutex.is_held_by_caller());
  mutex.unlock();
}

TEST_F(MutexTest, AnUnlockThatUnwindsAndIsWrongEndsTheRun) {
  bool went_on = false;
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto mutex = std::make_shared<Mutex>(Name("ledger"), kMadeInBank);
                const auto thief = spawn("thief", [&, mutex] {
                  try {
                    const Mutex::Guard guard(*mutex);
                    mutex->unlock();
                    delay(1ms);
                    throw Error("first");
                  } catch (const Error& error) {
                    EXPECT_STREQ(error.what(), "first");
                  }
                  went_on = true;
                });
                suspend();
                mutex->lock({}, kLockedInBank);
                EXPECT_THROW(delay(1h), Cancellation);
                mutex->unlock();
              });
            }),
            "fermata::UsageError: Mutex 'ledger' created at bank.cpp:12: unlock by 'thief': "
            "expected its holder, 'main' since bank.cpp:31");
  EXPECT_TRUE(went_on);
}

MAIN_TEST_F(MutexTest, SaysWhoHoldsItAndWhoWaits) {
  Mutex mutex("ledger", kMadeInBank);
  EXPECT_EQ(mutex.info(), "Mutex 'ledger' created at bank.cpp:12, not held");
  mutex.lock({}, kLockedInBank);
  const auto a = spawn_user(mutex, "a");
  const auto b = spawn_user(mutex, "b");
  suspend();
  EXPECT_EQ(mutex.info(),
            "Mutex 'ledger' created at bank.cpp:12, held by 'main' since bank.cpp:31, "
            "waiting: 'a', 'b'");
  EXPECT_EQ(a->awaiting(), std::vector<std::string>{mutex.info()});
  mutex.unlock();
  EXPECT_EQ(mutex.info(),
            "Mutex 'ledger' created at bank.cpp:12, not held, granted: 'a', waiting: 'b'");
  await(a);
  await(b);
}

TEST_F(MutexTest, RemembersAHolderThatHasEnded) {
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                Mutex mutex("ledger", kMadeInBank);
                await(spawn([&] { mutex.lock({}, kLockedInBank); }));
                EXPECT_THROW(mutex.lock({.timeout = 1ms}), Timeout);
              });
            }),
            "fermata::UsageError: Mutex 'ledger' created at bank.cpp:12, held by coroutine 2, "
            "which has ended, since bank.cpp:31: destroyed while it is in use");
}

TEST_F(MutexTest, EndsTheRunWhenItIsDestroyedWhileSomebodyWaits) {
  std::string got;
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                Coroutine<> waiter;
                {
                  Mutex mutex("ledger", kMadeInBank);
                  mutex.lock({}, kLockedInBank);
                  waiter = spawn("waiter", [&] { got = thrown_by([&] { mutex.lock(); }); });
                  suspend();
                }
                await(waiter);
              });
            }),
            "fermata::UsageError: Mutex 'ledger' created at bank.cpp:12, held by 'main' "
            "since bank.cpp:31, waiting: 'waiter': destroyed while it is in use");
  EXPECT_NE(got, "") << "it does not wait for what is gone";
}

TEST_F(MutexTest, LeavesTheExceptionThatDestroysItAlone) {
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                Mutex mutex("ledger");
                mutex.lock();
                throw Error("the cause");
              });
            }),
            "fermata::Error: the cause");
  EXPECT_NE(fixture.log.find("destroyed while it is in use"), std::string::npos);
}

TEST_F(MutexTest, IsNotLeftToAnotherHolderByAnException) {
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                Coroutine<> holder;
                EXPECT_EQ(thrown_by([&] {
                            Mutex mutex("ledger", kMadeInBank);
                            holder = spawn("holder", [&] { mutex.lock({}, kLockedInBank); });
                            suspend();
                            throw Error("the cause");
                          }),
                          "fermata::Error: the cause");
              });
            }),
            "fermata::UsageError: Mutex 'ledger' created at bank.cpp:12, held by coroutine 2, "
            "which has ended, since bank.cpp:31: destroyed while it is in use");
}

TEST_F(MutexTest, IsNamedInTheReportOfADeadlock) {
  EXPECT_THROW(fixture.run([] {
    const auto forks = std::make_shared<std::array<Mutex, 2>>();
    const auto philosopher = [forks](std::size_t first) {
      const Mutex::Guard left((*forks)[first]);
      suspend();
      const Mutex::Guard right((*forks)[1 - first]);
    };
    const auto a = spawn("Kant", [=] { philosopher(0); });
    const auto b = spawn("Hume", [=] { philosopher(1); });
    await(a);
  }),
               DeadlockError);
  EXPECT_NE(fixture.log.find("held by 'Hume'"), std::string::npos) << fixture.log;
  EXPECT_NE(fixture.log.find("waiting: 'Hume'"), std::string::npos) << fixture.log;
}

TEST(MutexByForce, IsUnlockedByWhoIsUnwound) {
  Cutter cutter;
  RuntimeOptions options;
  options.observer = &cutter;
  TestRuntime fixture(options);
  std::string state;
  bool cut = false;
  cutter.when = [&] { return cut; };
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto mutex = std::make_shared<Mutex>();
                std::vector<Coroutine<>> users;
                // The oldest is unwound last.
                users.push_back(spawn([mutex, &state] {
                  try {
                    delay(1h);
                  } catch (const ForcedUnwind&) {
                    state = mutex->info();
                    throw;
                  }
                }));
                for (int i = 0; i < 3; ++i) {
                  users.push_back(spawn([mutex] {
                    const Mutex::Guard guard(*mutex);
                    delay(1h);
                  }));
                }
                suspend();
                cut = true;
                await(users[0]);
              });
            }),
            "fermata::backend::AbandonRun");
  EXPECT_NE(state.find(", not held"), std::string::npos) << state;
  EXPECT_EQ(fixture.log, "");
}

TEST_F(MutexTest, IsOfUseToCoroutinesOnly) {
  EXPECT_THROW(Mutex(), UsageError) << "outside of run()";
}

}  // namespace
}  // namespace fermata::test
