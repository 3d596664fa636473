// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/pool.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/pool_bench.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Strings = std::vector<std::string>;

class PoolTest : public RuntimeFixture {
 protected:
  Service service;
  Strings served;
};

MAIN_TEST_F(PoolTest, MakesWhatIsNeededAndReusesWhatIsIdleInTheOrderOfRelease) {
  FERMATA_CHECKS("POOL-01", "POOL-03", "POOL-04", "POOL-17");
  {
    Pool<Connection> pool("db", service.options(3));
    EXPECT_EQ(pool.info(), "Pool(idle=0, active=0, reserved=0, max=3)");
    auto a = pool.acquire();
    auto b = pool.acquire();
    auto c = pool.acquire();
    EXPECT_EQ(pool.info(), "Pool(idle=0, active=3, reserved=0, max=3)");
    EXPECT_EQ(Strings({std::to_string(a->id), std::to_string(b->id), std::to_string((*c).id)}),
              Strings({"1", "2", "3"}));
    b.release();
    c.release();
    a.release();
    EXPECT_FALSE(a);
    EXPECT_EQ(pool.info(), "Pool(idle=3, active=0, reserved=0, max=3)");
    for (const int expected : {2, 3, 1, 2}) EXPECT_EQ(pool.acquire()->id, expected);
    EXPECT_EQ(pool.count(), 3u);
    EXPECT_EQ(pool.name(), "db");
  }
  suspend();
  EXPECT_EQ(service.live, 0);
  EXPECT_EQ(service.made, 3);
  EXPECT_EQ(service.ended, (std::vector{3, 1, 2})) << "each once";
}

MAIN_TEST_F(PoolTest, TellsWhenItIsClosedAndWhoeverAsksLate) {
  Pool<Connection> pool("db", service.options(3));
  Probe early;
  Probe late;
  pool.event().add_callback(early);
  const auto held = pool.acquire();
  pool.close();
  pool.close();
  EXPECT_EQ(early.runs, 1);
  EXPECT_FALSE(pool.event().add_callback(late));
  EXPECT_EQ(late.error, early.error);
  EXPECT_THROW(wait(pool.event()), PoolError);
}

MAIN_TEST_F(PoolTest, DoesNotSuspendWhenThereIsAResource) {
  Pool<Connection> pool(service.options(2));
  pool.acquire().release();
  const Metrics before = fixture.runtime.metrics();
  for (int i = 0; i < 3; ++i) pool.acquire().release();
  EXPECT_EQ(fixture.runtime.metrics().ticks, before.ticks);
  EXPECT_EQ(fixture.runtime.metrics().spawned, before.spawned);
  EXPECT_EQ(service.made, 1);
}

// T-PO-1
MAIN_TEST_F(PoolTest, WhoeverReleasesAndAcquiresAgainGoesToTheEndOfTheLine) {
  FERMATA_CHECKS("POOL-02", "POOL-05", "POOL-07", "POOL-21");
  Pool<Connection> pool(service.options(1));
  auto mine = pool.acquire();
  const auto b = spawn_user("b", pool, served);
  const auto c = spawn_user("c", pool, served);
  suspend();
  EXPECT_EQ(pool.waiting_count(), 2u);
  mine.release();
  EXPECT_EQ(pool.info(), "Pool(idle=1, active=0, reserved=1, max=1)") << "b has not run yet";
  mine = pool.acquire();
  served.emplace_back("a1");
  mine.release();
  await(b);
  await(c);
  EXPECT_EQ(served, Strings({"b1", "c1", "a1"}));
}

// T-PO-2
MAIN_TEST_F(PoolTest, ACancelledWaiterHandsItsReservationOn) {
  FERMATA_CHECKS("POOL-02", "POOL-07");
  Pool<Connection> pool(service.options(1));
  auto mine = pool.acquire();
  const auto b = spawn_user("b", pool, served);
  const auto c = spawn_user("c", pool, served);
  suspend();
  mine.release();
  b.cancel();
  EXPECT_EQ(pool.reserved_count(), 1u);
  await(c);
  EXPECT_THROW(await(b), Cancellation);
  EXPECT_EQ(served, Strings({"c1"}));
  EXPECT_EQ(pool.info(), "Pool(idle=1, active=0, reserved=0, max=1)");
}

// T-PO-3
TEST_F(PoolTest, OfAReleaseAndATimeoutAtOnceTheFirstDecides) {
  FERMATA_CHECKS("POOL-11");
  for (const bool release_first : {true, false}) {
    fixture.run([&] {
      Pool<Connection> pool(service.options(1));
      auto mine = pool.acquire();
      Timer together(fixture.runtime, 10ms);
      const auto give_back = [&](Event&, const Outcome&) { mine.release(); };
      const auto watch = subscribe(together, give_back);
      if (release_first) together.start();
      const auto b = spawn([&] { return pool.acquire({.timeout = 10ms})->id; });
      const Instant start = now();
      suspend();
      if (!release_first) together.start();
      delay(20ms);
      if (release_first) {
        EXPECT_EQ(await(b), service.made);
      } else {
        EXPECT_EQ(thrown_by([&] { await(b); }),
                  "fermata::Timeout: Timeout occurred after 10 milliseconds");
      }
      EXPECT_EQ(now() - start, 20ms);
      EXPECT_EQ(pool.info(), "Pool(idle=1, active=0, reserved=0, max=1)");
    });
  }
}

MAIN_TEST_F(PoolTest, ATimeoutTakesNothingAndIsExact) {
  FERMATA_CHECKS("POOL-11");
  Pool<Connection> pool(service.options(1));
  const auto mine = pool.acquire();
  const Instant start = now();
  EXPECT_THROW(static_cast<void>(pool.acquire({.timeout = 0ms})), Timeout);
  EXPECT_EQ(now(), start) << "never parks";
  EXPECT_THROW(static_cast<void>(pool.acquire({.timeout = 7ms})), Timeout);
  EXPECT_EQ(now() - start, 7ms);
  EXPECT_EQ(pool.info(), "Pool(idle=0, active=1, reserved=0, max=1)");
  EXPECT_EQ(pool.waiting_count(), 0u);
}

MAIN_TEST_F(PoolTest, ATimeoutAfterTheGrantHandsTheReservationOn) {
  FERMATA_CHECKS("POOL-11", "POOL-07");
  Pool<Connection> pool(service.options(1));
  auto mine = pool.acquire();
  const auto token = Ref<PlainEvent>::adopt(*new PlainEvent(fixture.runtime));
  const auto b = spawn([&] { static_cast<void>(pool.acquire({.token = token.get()})); });
  const auto c = spawn_user("c", pool, served);
  suspend();
  token->complete({});
  mine.release();
  EXPECT_EQ(pool.reserved_count(), 1u) << "c's: b is on its way back";
  await(c);
  EXPECT_EQ(end_of(b), "fermata::OperationCancelled: Operation has been cancelled");
  EXPECT_EQ(served, Strings({"c1"}));
}

// T-PO-4
MAIN_TEST_F(PoolTest, TryAcquireTakesWhatNobodyWasPromised) {
  FERMATA_CHECKS("POOL-02", "POOL-05");
  Pool<Connection> pool(service.options(2));
  auto one = pool.acquire();
  auto two = pool.acquire();
  const auto b = spawn_user("b", pool, served);
  suspend();
  one.release();
  two.release();
  EXPECT_EQ(pool.info(), "Pool(idle=2, active=0, reserved=1, max=2)");
  const auto surplus = pool.try_acquire();
  ASSERT_TRUE(surplus);
  EXPECT_FALSE(pool.try_acquire());
  await(b);
  EXPECT_EQ(served, Strings({"b2"}));
}

MAIN_TEST_F(PoolTest, ATokenThatHasFiredTakesNothing) {
  Pool<Connection> pool(service.options(1));
  const auto token = spawn([] {});
  await(token);
  EXPECT_EQ(thrown_by([&] { static_cast<void>(pool.acquire({.token = &*token})); }),
            "fermata::OperationCancelled: Operation has been cancelled");
  EXPECT_EQ(service.made, 0);
}

MAIN_TEST_F(PoolTest, ALeaseGivesItsResourceBackAtItsEndWhereverThatIs) {
  FERMATA_CHECKS("POOL-18", "POOL-03");
  Pool<Connection> pool(service.options(1));
  EXPECT_EQ(thrown_by([&] {
              const auto lease = pool.acquire();
              throw Error("in use");
            }),
            "fermata::Error: in use");
  EXPECT_EQ(pool.idle_count(), 1u);
  auto lease = pool.acquire();
  auto moved = std::move(lease);
  EXPECT_TRUE(moved);
  moved = Lease<Connection>();
  EXPECT_EQ(pool.idle_count(), 1u);
}

MAIN_TEST_F(PoolTest, LeasesOutliveTheirPool) {
  FERMATA_CHECKS("POOL-04", "POOL-12");
  Lease<Connection> lease;
  {
    Pool<Connection> pool(service.options(2));
    lease = pool.acquire();
    pool.acquire().release();
  }
  suspend();
  EXPECT_EQ(service.ended, (std::vector{2})) << "the idle one";
  EXPECT_EQ(lease->id, 1);
  lease.release();
  EXPECT_EQ(service.ended, (std::vector{2, 1}));
}

MAIN_TEST_F(PoolTest, ADiscardedResourceIsDestroyedAndItsPlaceServed) {
  FERMATA_CHECKS("POOL-07", "POOL-04");
  Pool<Connection> pool(service.options(1));
  auto mine = pool.acquire();
  const auto b = spawn_user("b", pool, served);
  suspend();
  mine.discard();
  EXPECT_EQ(service.ended, (std::vector{1}));
  await(b);
  EXPECT_EQ(served, Strings({"b2"}));
}

MAIN_TEST_F(PoolTest, ADetachedResourceIsGivenBackByItsAddress) {
  FERMATA_CHECKS("POOL-03");
  Pool<Connection> pool("db", service.options(2));
  Pool<Connection> other("other", service.options(2));
  auto lease = pool.acquire();
  Connection& connection = *lease;
  EXPECT_NE(thrown_by([&] { pool.release(connection); }).find("that a lease holds"),
            std::string::npos);
  EXPECT_EQ(&lease.detach(), &connection);
  EXPECT_FALSE(lease);
  const std::string foreign = thrown_by([&] { other.release(connection); });
  EXPECT_NE(foreign.find("UsageError: pool 'other' created at "), std::string::npos) << foreign;
  EXPECT_NE(foreign.find("release of a resource that is not one of its own: expected one"),
            std::string::npos);
  EXPECT_EQ(pool.active_count(), 1u);
  pool.release(connection);
  EXPECT_EQ(pool.info(), "Pool(idle=1, active=0, reserved=0, max=2)");
  EXPECT_NE(thrown_by([&] { pool.release(connection); }).find("that has been released already"),
            std::string::npos);
  EXPECT_EQ(pool.info(), "Pool(idle=1, active=0, reserved=0, max=2)");
}

MAIN_TEST_F(PoolTest, RefusesToReleaseTwiceOrToAnotherPool) {
  Pool<Connection> pool("db", service.options(1));
  Pool<Connection> other("other", service.options(1));
  auto lease = pool.acquire();
  const std::string foreign = thrown_by([&] { other.release(std::move(lease)); });
  EXPECT_NE(foreign.find("pool 'other' created at "), std::string::npos) << foreign;
  EXPECT_NE(foreign.find("release of a lease of pool 'db' created at "), std::string::npos);
  EXPECT_TRUE(lease);
  pool.release(std::move(lease));
  for (const std::string& twice :
       {thrown_by([&] { lease.release(); }), thrown_by([&] { static_cast<void>(*lease); })}) {
    EXPECT_NE(twice.find("UsageError: pool 'db' created at "), std::string::npos) << twice;
    EXPECT_NE(twice.find("the lease has no resource: expected one that was not given back"),
              std::string::npos);
  }
  Lease<Connection> none;
  EXPECT_THROW(none.release(), UsageError);
  EXPECT_EQ(pool.idle_count(), 1u);
}

TEST_F(PoolTest, RefusesLimitsThatMakeNoSense) {
  fixture.run([this] {
    const auto refused = [&](auto change) {
      PoolOptions<Connection> options = service.options(3);
      change(options);
      const std::string text = thrown_by([&] { Pool<Connection> pool("db", std::move(options)); });
      EXPECT_EQ(text.find("fermata::UsageError: pool 'db' created at "), 0u) << text;
      return text.substr(std::min(text.size(), text.find(": ", 25) + 2));
    };
    EXPECT_EQ(refused([](auto& options) { options.min = -1; }), "min of -1: expected 0 or more");
    EXPECT_EQ(refused([](auto& options) { options.max = 0; }), "max of 0: expected 1 or more");
    EXPECT_EQ(refused([](auto& options) { options.min = 4; }),
              "min of 4: expected at most max, which is 3");
    EXPECT_EQ(refused([](auto& options) { options.health_check_interval = -5ns; }),
              "health_check_interval in ns of -5: expected 0 (never) or more");
    EXPECT_EQ(refused([](auto& options) { options.probes = -1; }),
              "probes of -1: expected 0 or more");
    EXPECT_EQ(refused([](auto& options) { options.factory = nullptr; }),
              "no factory: expected one");
    Pool<Connection> pool(service.options(1));
    EXPECT_EQ(thrown_by([&] { static_cast<void>(pool.acquire({.timeout = -1ms})); }),
              "fermata::UsageError: a span of -1000000 ns: expected zero or more");
  });
  EXPECT_EQ(service.made, 0);
}

MAIN_TEST_F(PoolTest, TakesMoveOnlyResourcesAndANullOneForNone) {
  bool works = true;
  Pool<std::unique_ptr<int>> pool(
      {.factory = [&] { return works ? std::make_unique<int>(7) : nullptr; }});
  auto seven = pool.acquire();
  EXPECT_EQ(**seven, 7);
  works = false;
  EXPECT_THROW(static_cast<void>(pool.acquire()), PoolError);
  EXPECT_FALSE(pool.try_acquire());
  EXPECT_EQ(pool.info(), "Pool(idle=0, active=1, reserved=0, max=10)");
}

TEST_F(PoolTest, AWaiterShowsInReports) {
  EXPECT_THROW(fixture.run([this] {
    Pool<Connection> pool(service.options(1));
    const auto mine = pool.acquire();
    static_cast<void>(pool.acquire());
  }),
               DeadlockError);
  EXPECT_NE(fixture.log.find("Pool(idle=0, active=1, reserved=0, max=1)"), std::string::npos)
      << fixture.log;
  EXPECT_EQ(service.live, 0);
}

}  // namespace
}  // namespace fermata::test
