// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/pool.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/pool_bench.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Strings = std::vector<std::string>;

class PoolUpkeepTest : public RuntimeFixture {
 protected:
  /// Makes `count` idle resources, in the order of their ids.
  static void warm_up(Pool<Connection>& pool, int count) {
    std::vector<Lease<Connection>> leases;
    for (int i = 0; i < count; ++i) leases.push_back(pool.acquire());
    for (auto& lease : leases) lease.release();
  }

  Service service;
  Strings served;
};

TEST_F(PoolUpkeepTest, MakesMinResourcesFirst) {
  FERMATA_CHECKS("POOL-14", "POOL-17");
  service.on_connect = [] { delay(1ms); };
  fixture.run([this] {
    auto options = service.options(3);
    options.min = 2;
    Pool<Connection> pool(options);
    EXPECT_EQ(pool.info(), "Pool(idle=2, active=0, reserved=0, max=3)");
    EXPECT_EQ(pool.acquire()->id, 1);
  });
}

TEST_F(PoolUpkeepTest, AFactoryThatFailsAtFirstLeavesTheConstructorAndNoResource) {
  FERMATA_CHECKS("POOL-04");
  service.on_connect = [this] {
    if (service.made == 2) throw Error("refused");
  };
  fixture.run([this] {
    auto options = service.options(3);
    options.min = 3;
    EXPECT_EQ(thrown_by([&] { const Pool<Connection> pool(options); }), "fermata::Error: refused");
    EXPECT_EQ(service.ended, (std::vector{1, 2}));
    options.factory = [] { return std::optional<Connection>(); };
    EXPECT_THROW(Pool<Connection>{options}, PoolError) << "nothing made is a failure too";
  });
}

MAIN_TEST_F(PoolUpkeepTest, CloseFailsAllWaitersInOrderAndDestroysAllIdle) {
  FERMATA_CHECKS("POOL-12", "POOL-02");
  Pool<Connection> pool("db", service.options(2));
  auto one = pool.acquire();
  auto two = pool.acquire();
  std::vector<Coroutine<>> waiters;
  for (const char* name : {"b", "c", "d"}) {
    waiters.push_back(spawn([&, name] {
      const std::string error = thrown_by([&] { static_cast<void>(pool.acquire()); });
      EXPECT_EQ(error.find("fermata::PoolError: Pool is closed\n  previous: "
                           "fermata::Error: pool 'db' created at tests/unit/"),
                0u)
          << error;
      EXPECT_NE(error.find(", closed at tests/unit/"), std::string::npos) << error;
      served.emplace_back(name);
    }));
  }
  suspend();
  one.release();  // b has a reservation now (T-PO-6).
  pool.close();
  EXPECT_TRUE(pool.is_closed());
  EXPECT_EQ(pool.info(), "Pool(idle=0, active=1, reserved=0, max=2)");
  EXPECT_EQ(service.ended, (std::vector{1}));
  for (const auto& waiter : waiters) await(waiter);
  EXPECT_EQ(served, Strings({"b", "c", "d"}));
  two.release();
  EXPECT_EQ(service.ended, (std::vector{1, 2}));
  EXPECT_EQ(pool.info(), "Pool(idle=0, active=0, reserved=0, max=2)");
  EXPECT_THROW(static_cast<void>(pool.acquire()), PoolError);
  EXPECT_FALSE(pool.try_acquire());
  pool.close();
}

TEST_F(PoolUpkeepTest, CloseDestroysAllHoweverManyDestructorsThrow) {
  FERMATA_CHECKS("POOL-13", "POOL-12", "POOL-18");
  service.on_disconnect = [this] {
    suspend();
    if (service.ended.back() != 2) throw Error("reset " + std::to_string(service.ended.back()));
  };
  fixture.run([this] {
    Pool<Connection> pool(service.options(3));
    warm_up(pool, 3);
    EXPECT_EQ(thrown_by([&] { pool.close(); }),
              "fermata::Error: reset 3\n  previous: fermata::Error: reset 1");
    EXPECT_EQ(service.ended, (std::vector{1, 2, 3}));
    EXPECT_EQ(pool.count(), 0u);

    Pool<Connection> other("other", service.options(1));
    warm_up(other, 1);
    struct Closes {
      Pool<Connection>& pool;
      ~Closes() { pool.close(); }
    };
    EXPECT_EQ(thrown_by([&] {
                const Closes guard{other};
                throw Error("in flight");
              }),
              "fermata::Error: in flight");
  });
  EXPECT_NE(fixture.log.find("An error while the pool was closed: pool 'other'"),
            std::string::npos);
}

TEST_F(PoolUpkeepTest, ACancellationDoesNotCutCloseShort) {
  FERMATA_CHECKS("POOL-13", "POOL-20");
  service.on_disconnect = [] { delay(1ms); };
  fixture.run([this] {
    Pool<Connection> pool(service.options(3));
    warm_up(pool, 3);
    const auto closer = spawn([&] { pool.close(); });
    suspend();
    EXPECT_EQ(pool.info(), "Pool(idle=0, active=3, reserved=0, max=3)") << "being destroyed";
    closer.cancel();
    EXPECT_EQ(end_of(closer), "fermata::Cancellation: Coroutine cancelled");
    EXPECT_EQ(service.ended, (std::vector{1, 2, 3}));
    EXPECT_EQ(pool.count(), 0u);
  });
}

MAIN_TEST_F(PoolUpkeepTest, WhoeverIsInAHookOrTheFactoryAtCloseGetsNothing) {
  FERMATA_CHECKS("POOL-12", "POOL-04");
  auto options = service.options(2);
  options.before_acquire = [](Connection&) {
    delay(5ms);
    return true;
  };
  Pool<Connection> pool(options);
  pool.acquire().release();
  service.on_connect = [] { delay(5ms); };
  const auto in_hook = spawn([&] { static_cast<void>(pool.acquire()); });
  const auto in_factory = spawn([&] { static_cast<void>(pool.acquire()); });
  const auto trying = spawn([&] { EXPECT_FALSE(pool.try_acquire()); });
  suspend();
  pool.close();
  EXPECT_EQ(pool.active_count(), 2u);
  EXPECT_THROW(await(in_hook), PoolError);
  EXPECT_THROW(await(in_factory), PoolError);
  await(trying);
  EXPECT_EQ(service.live, 0);
  EXPECT_EQ(pool.count(), 0u);
}

TEST_F(PoolUpkeepTest, TheEndOfAPoolDoesNotWaitForDestructors) {
  FERMATA_CHECKS("POOL-12", "POOL-04");
  service.on_disconnect = [this] {
    delay(1ms);
    if (service.ended.back() == 1) throw Error("reset");
  };
  fixture.run([this] {
    {
      Pool<Connection> pool("db", service.options(2));
      warm_up(pool, 2);
    }
    EXPECT_EQ(service.live, 2);
  });
  EXPECT_EQ(service.live, 0) << "the run waits for them";
  EXPECT_NE(fixture.log.find("fermata::Error: reset"), std::string::npos);
}

TEST_F(PoolUpkeepTest, TheHealthCheckReplacesDeadResources) {
  FERMATA_CHECKS("POOL-14", "POOL-19", "POOL-17");
  auto options = service.options(3);
  options.min = 3;
  options.health_check_interval = 10ms;
  options.health_check = [](Connection& connection) -> bool {
    delay(1ms);
    if (connection.id == 2) throw Error("dead");
    return connection.id != 3;
  };
  service.on_disconnect = [] { delay(1ms); };
  fixture.run([&] {
    Pool<Connection> pool(options);
    delay(12ms);
    EXPECT_EQ(pool.active_count(), 1u) << "one at a time";
    delay(6ms);
    EXPECT_EQ(service.ended, (std::vector{2, 3}));
    EXPECT_EQ(pool.info(), "Pool(idle=3, active=0, reserved=0, max=3)");
    EXPECT_EQ(service.made, 5);
    pool.close();
  });
  EXPECT_EQ(service.most_live, 3);
}

TEST_F(PoolUpkeepTest, TheHealthCheckLeavesWhatIsPromised) {
  FERMATA_CHECKS("POOL-14", "POOL-21", "POOL-07");
  auto options = service.options(1);
  options.health_check_interval = 10ms;
  int checked = 0;
  options.health_check = [&](Connection&) {
    ++checked;
    return true;
  };
  fixture.run([&] {
    Pool<Connection> pool(options);
    auto mine = pool.acquire();
    const auto b = spawn_user("b", pool, served);
    const auto c = spawn_user("c", pool, served);
    delay(9ms);
    const auto busy = spawn([&] {
      fixture.reactor->advance(1ms);  // The tick comes with the next look at the reactor.
      mine.release();
    });
    await(b);
    await(c);
    EXPECT_EQ(served, Strings({"b1", "c1"}));
    delay(2ms);
    EXPECT_LE(checked, 1);
    await(busy);
  });
}

TEST_F(PoolUpkeepTest, TheHealthCheckRefillsToMinAndSkipsTicksWhileItRuns) {
  FERMATA_CHECKS("POOL-14");
  auto options = service.options(3);
  options.min = 2;
  options.health_check_interval = 10ms;
  fixture.run([&] {
    Pool<Connection> pool(options);
    pool.acquire().discard();
    pool.acquire().discard();
    EXPECT_EQ(pool.count(), 0u);
    service.on_connect = [] { delay(15ms); };
    delay(11ms);
    EXPECT_EQ(pool.info(), "Pool(idle=0, active=1, reserved=0, max=3)") << "being made";
    delay(12ms);
    EXPECT_EQ(pool.info(), "Pool(idle=0, active=1, reserved=0, max=3)") << "not two at once";
    delay(20ms);
    EXPECT_EQ(pool.info(), "Pool(idle=2, active=0, reserved=0, max=3)");
    service.on_connect = [] { throw Error("refused"); };
    pool.acquire().discard();
    delay(20ms);
    EXPECT_EQ(pool.count(), 1u);
  });
  EXPECT_NE(fixture.log.find("The health check could not make a resource: pool created at "),
            std::string::npos)
      << fixture.log;
}

TEST_F(PoolUpkeepTest, TheHealthCheckSurvivesADestructorThatThrows) {
  auto options = service.options(2);
  options.health_check_interval = 10ms;
  options.health_check = [](Connection&) { return false; };
  service.on_disconnect = [] { throw Error("reset"); };
  fixture.run([&] {
    Pool<Connection> pool(options);
    warm_up(pool, 2);
    delay(11ms);
    EXPECT_EQ(pool.count(), 0u);
    EXPECT_EQ(service.ended, (std::vector{1, 2}));
  });
}

TEST_F(PoolUpkeepTest, AHealthCheckThatIsClosedMeanwhileEndsWhatItHolds) {
  FERMATA_CHECKS("POOL-12", "POOL-14");
  auto options = service.options(2);
  options.min = 2;
  options.health_check_interval = 10ms;
  options.health_check = [](Connection&) {
    delay(5ms);
    return true;
  };
  fixture.run([&] {
    Pool<Connection> pool(options);
    delay(12ms);
    pool.close();
    EXPECT_EQ(pool.active_count(), 1u);
    delay(10ms);
    EXPECT_EQ(service.live, 0);
    EXPECT_EQ(service.made, 2);
  });
}

TEST_F(PoolUpkeepTest, TheHealthCheckNeitherKeepsTheRunNorHidesADeadlock) {
  FERMATA_CHECKS("POOL-15");
  auto options = service.options(1);
  options.health_check_interval = 10ms;
  options.health_check = [](Connection&) { return true; };
  std::optional<Pool<Connection>> pool;
  fixture.run([&] { pool.emplace(options); });
  EXPECT_THROW(fixture.run([&] {
    pool.emplace(options);
    const auto mine = pool->acquire();
    static_cast<void>(pool->acquire());
  }),
               DeadlockError);
  fixture.run([&] { pool.reset(); });
  EXPECT_EQ(service.live, 0);
}

TEST_F(PoolUpkeepTest, EndsAfterItsRun) {
  FERMATA_CHECKS("POOL-04");
  std::optional<Pool<Connection>> pool;
  Lease<Connection> lease;
  service.on_disconnect = [] { suspend(); };
  fixture.run([&] {
    pool.emplace(Name("late"), service.options(2));
    lease = pool->acquire();
    pool->acquire().release();
  });
  pool.reset();
  lease = Lease<Connection>();
  EXPECT_EQ(service.live, 0);
  EXPECT_EQ(service.ended, (std::vector{2, 1}));
  EXPECT_NE(fixture.log.find("An error of a resource's end: pool 'late'"), std::string::npos)
      << "nobody can suspend any more";
}

}  // namespace
}  // namespace fermata::test
