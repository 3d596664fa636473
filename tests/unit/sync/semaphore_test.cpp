// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/semaphore.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class SemaphoreTest : public RuntimeFixture {
 protected:
  /// Takes `count` permits and keeps them.
  Coroutine<> spawn_taker(Semaphore& semaphore, const char* name, std::size_t count,
                          WaitOptions options = {}) {
    return spawn(std::string(name), [this, &semaphore, name, count, options] {
      semaphore.acquire(count, options);
      order.emplace_back(name);
    });
  }

  std::vector<std::string> order;
};

using Names = std::vector<std::string>;

MAIN_TEST_F(SemaphoreTest, CountsPermits) {
  Semaphore semaphore(3);
  const Metrics before = fixture.runtime.metrics();
  semaphore.acquire();
  semaphore.acquire(2);
  EXPECT_EQ(semaphore.available(), 0u);
  EXPECT_FALSE(semaphore.try_acquire());
  semaphore.release(2);
  EXPECT_FALSE(semaphore.try_acquire(3));
  EXPECT_TRUE(semaphore.try_acquire(2));
  EXPECT_EQ(semaphore.available(), 0u);
  EXPECT_EQ(fixture.runtime.metrics().ticks, before.ticks) << "nothing has suspended";
}

MAIN_TEST_F(SemaphoreTest, ServesInTheOrderOfArrival) {
  Semaphore semaphore(0);
  const auto a = spawn_taker(semaphore, "a", 1);
  const auto b = spawn_taker(semaphore, "b", 1);
  suspend();
  semaphore.release(2);
  await(b);
  await(a);
  EXPECT_EQ(order, (Names{"a", "b"}));
}

MAIN_TEST_F(SemaphoreTest, DoesNotStarveWhoWantsMany) {
  Semaphore semaphore(2);
  const auto big = spawn_taker(semaphore, "big", 3);
  const auto small = spawn_taker(semaphore, "small", 1);
  suspend();
  EXPECT_TRUE(order.empty()) << "the small one stands behind the big one";
  EXPECT_FALSE(semaphore.try_acquire()) << "and so does whoever comes now";
  semaphore.release();
  await(big);
  EXPECT_EQ(order, Names{"big"});
  semaphore.release();
  await(small);
  EXPECT_EQ(semaphore.available(), 0u);
}

MAIN_TEST_F(SemaphoreTest, ServesThoseBehindABigOneThatGivesUp) {
  for (const bool timed : {false, true}) {
    order.clear();
    Semaphore semaphore(2);
    WaitOptions options;
    if (timed) options.timeout = 5ms;
    const auto big = spawn_taker(semaphore, "big", 3, options);
    const auto a = spawn_taker(semaphore, "a", 1);
    const auto b = spawn_taker(semaphore, "b", 1);
    suspend();
    if (!timed) big.cancel();
    await(a);
    await(b);
    EXPECT_NE(thrown_by([&] { await(big); }), "");
    EXPECT_EQ(order, (Names{"a", "b"}));
    EXPECT_EQ(semaphore.available(), 0u);
  }
}

MAIN_TEST_F(SemaphoreTest, PromisesWhatItReleases) {
  Semaphore semaphore(0);
  const auto waiter = spawn_taker(semaphore, "waiter", 2);
  suspend();
  semaphore.release(2);
  EXPECT_EQ(semaphore.available(), 0u) << "they are the waiter's";
  EXPECT_FALSE(semaphore.try_acquire());
  await(waiter);
}

MAIN_TEST_F(SemaphoreTest, LosesNoPermitWhenTheOneItWasPromisedToIsCancelled) {
  Semaphore semaphore(0);
  const auto a = spawn_taker(semaphore, "a", 2);
  const auto b = spawn_taker(semaphore, "b", 1);
  suspend();
  semaphore.release(2);
  a.cancel();
  await(b);
  EXPECT_THROW(await(a), Cancellation);
  EXPECT_EQ(semaphore.available(), 1u);
  EXPECT_EQ(order, Names{"b"});
}

MAIN_TEST_F(SemaphoreTest, TakesNothingWhenItGivesUp) {
  FERMATA_CHECKS("EVT-06");
  Semaphore semaphore(1);
  EXPECT_THROW(semaphore.acquire(2, {.timeout = 0ms}), Timeout);
  EXPECT_THROW(semaphore.acquire(2, {.timeout = 5ms}), Timeout);
  EXPECT_THROW(semaphore.acquire(2, {.timeout = -5ms}), UsageError);
  const auto fired = spawn([] {});
  await(fired);
  EXPECT_THROW(semaphore.acquire(1, {.token = &*fired}), OperationCancelled);
  EXPECT_EQ(semaphore.available(), 1u);
}

MAIN_TEST_F(SemaphoreTest, RefusesAbsurdNumbers) {
  Semaphore semaphore("slots", 1, {"pool.cpp", "", 8});
  const std::string who = "fermata::UsageError: Semaphore 'slots' created at pool.cpp:8: ";
  EXPECT_EQ(thrown_by([&] { semaphore.acquire(0); }),
            who + "acquire of 0 permits: expected one or more");
  EXPECT_EQ(thrown_by([&] { (void)semaphore.try_acquire(0); }),
            who + "try_acquire of 0 permits: expected one or more");
  EXPECT_EQ(thrown_by([&] { semaphore.release(0); }),
            who + "release of 0 permits: expected one or more");
  EXPECT_EQ(thrown_by([&] { semaphore.release(std::numeric_limits<std::size_t>::max()); }),
            who + "release of 18446744073709551615 permits: there are 1 already");
}

MAIN_TEST_F(SemaphoreTest, SaysWhatItHasAndWhoWaits) {
  Semaphore semaphore("slots", 1, {"pool.cpp", "", 8});
  const auto waiter = spawn_taker(semaphore, "a", 2);
  suspend();
  EXPECT_EQ(semaphore.info(), "Semaphore 'slots' created at pool.cpp:8, 1 available, waiting: 'a'");
  semaphore.release();
  await(waiter);
}

TEST_F(SemaphoreTest, EndsTheRunWhenItIsDestroyedWhileSomebodyWaits) {
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                Semaphore semaphore("slots", 0, {"pool.cpp", "", 8});
                spawn("waiter", [&] { EXPECT_ANY_THROW(semaphore.acquire()); });
                suspend();
              });
            }),
            "fermata::UsageError: Semaphore 'slots' created at pool.cpp:8, 0 available, waiting: "
            "'waiter': destroyed while it is in use");
}

}  // namespace
}  // namespace fermata::test
