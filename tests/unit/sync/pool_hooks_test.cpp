// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
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
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Strings = std::vector<std::string>;

class PoolHooksTest : public RuntimeFixture {
 protected:
  Service service;
  Strings served;
};

TEST_F(PoolHooksTest, NeverMoreThanMaxWhileTheFactorySuspends) {
  FERMATA_CHECKS("POOL-01", "POOL-19");
  service.on_connect = [] { delay(5ms); };
  fixture.run([this] {
    Pool<Connection> pool(service.options(2));
    std::vector<Coroutine<>> users;
    for (const char* name : {"a", "b", "c", "d"}) {
      users.push_back(spawn_user(name, pool, served, 1ms));
    }
    suspend();
    EXPECT_EQ(pool.info(), "Pool(idle=0, active=2, reserved=0, max=2)") << "being made";
    for (const auto& user : users) await(user);
    EXPECT_EQ(served, Strings({"a1", "b2", "c1", "d2"}));
  });
  EXPECT_EQ(service.most_live, 2);
}

// T-PO-5
TEST_F(PoolHooksTest, AFailingFactoryPassesItsPlaceOn) {
  FERMATA_CHECKS("POOL-08", "POOL-07");
  int attempts = 0;
  service.on_connect = [&] {
    delay(1ms);
    if (++attempts <= 2) throw Error("refused " + std::to_string(attempts));
  };
  fixture.run([&] {
    Pool<Connection> pool(service.options(1));
    const auto b = spawn([&] { static_cast<void>(pool.acquire()); });
    const auto c = spawn_user("c", pool, served);
    EXPECT_EQ(thrown_by([&] { static_cast<void>(pool.acquire()); }), "fermata::Error: refused 1");
    EXPECT_EQ(pool.info(), "Pool(idle=0, active=0, reserved=1, max=1)") << "b's";
    EXPECT_EQ(thrown_by([&] { await(b); }), "fermata::Error: refused 2");
    await(c);
    EXPECT_EQ(served, Strings({"c1"}));
  });
}

MAIN_TEST_F(PoolHooksTest, AFactoryThatMakesNothingHasFailed) {
  FERMATA_CHECKS("POOL-08");
  Pool<Connection> pool("db", {.factory = []() { return std::optional<Connection>(); }});
  EXPECT_EQ(thrown_by([&] { static_cast<void>(pool.acquire()); })
                .find("fermata::PoolError: Failed to create pool resource\n  previous: "
                      "fermata::Error: pool 'db' created at "),
            0u);
  EXPECT_FALSE(pool.try_acquire());
  EXPECT_EQ(pool.active_count(), 0u);
}

// T-PO-8
TEST_F(PoolHooksTest, StaleResourcesAreDestroyedAndTheWaiterKeepsItsPlace) {
  FERMATA_CHECKS("POOL-06", "POOL-09", "POOL-22", "POOL-19");
  auto options = service.options(2);
  options.before_acquire = [&](Connection& connection) {
    EXPECT_GT(service.made, 1) << "only what was used before";
    delay(1ms);
    return !connection.broken;
  };
  service.on_disconnect = [] { delay(1ms); };
  fixture.run([&] {
    Pool<Connection> pool(options);
    auto one = pool.acquire();
    auto two = pool.acquire();
    const auto b = spawn_user("b", pool, served);
    const auto c = spawn_user("c", pool, served);
    suspend();
    one->broken = two->broken = true;
    one.release();
    two.release();
    EXPECT_EQ(pool.info(), "Pool(idle=2, active=0, reserved=2, max=2)");
    const auto d = spawn_user("d", pool, served);
    await(b);
    await(c);
    await(d);
    EXPECT_EQ(service.ended, (std::vector{1, 2}));
    EXPECT_EQ(served, Strings({"b3", "d4", "c3"})) << "c looks at what b gave back meanwhile";
    pool.close();
  });
  EXPECT_EQ(service.most_live, 2);
  EXPECT_EQ(service.live, 0);
}

TEST_F(PoolHooksTest, AHookThatThrowsRejects) {
  FERMATA_CHECKS("POOL-09");
  auto options = service.options(1);
  bool fails = true;
  options.before_acquire = [&](Connection&) -> bool {
    if (fails) throw Error("stale");
    return true;
  };
  fixture.run([&] {
    Pool<Connection> pool(options);
    pool.acquire().release();
    EXPECT_EQ(pool.acquire()->id, 2);
    fails = false;
    EXPECT_EQ(pool.acquire()->id, 2);
    EXPECT_EQ(service.ended, (std::vector{1}));
  });
}

TEST_F(PoolHooksTest, AnErrorOfTheDestructorLeavesAcquireAndThePlaceIsServed) {
  FERMATA_CHECKS("POOL-04", "POOL-07");
  auto options = service.options(1);
  options.before_acquire = [](Connection&) { return false; };
  service.on_disconnect = [] { throw Error("reset"); };
  fixture.run([&] {
    Pool<Connection> pool(options);
    auto one = pool.acquire();
    const auto b = spawn([&] { static_cast<void>(pool.acquire()); });
    const auto c = spawn_user("c", pool, served);
    suspend();
    one.release();
    EXPECT_EQ(thrown_by([&] { await(b); }), "fermata::Error: reset");
    await(c);
    EXPECT_EQ(served, Strings({"c2"}));
    EXPECT_EQ(service.ended, (std::vector{1}));
  });
}

// T-PO-7
TEST_F(PoolHooksTest, ARejectedReleaseDestroysAndLetsTheWaiterMakeAnother) {
  FERMATA_CHECKS("POOL-10", "POOL-19", "POOL-07");
  auto options = service.options(1);
  int asked = 0;
  options.before_release = [&](Connection& connection) {
    ++asked;
    suspend();
    return connection.id != 1;
  };
  service.on_disconnect = [] { delay(3ms); };
  fixture.run([&] {
    Pool<Connection> pool(options);
    auto one = pool.acquire();
    const auto b = spawn_user("b", pool, served);
    suspend();
    one.release();
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(service.ended, (std::vector{1}));
    EXPECT_TRUE(served.empty());
    await(b);
    suspend();
    suspend();
    EXPECT_EQ(asked, 2) << "in a coroutine of the pool";
    EXPECT_EQ(served, Strings({"b2"}));
    EXPECT_EQ(pool.info(), "Pool(idle=1, active=0, reserved=0, max=1)");
    pool.close();
  });
  EXPECT_EQ(service.most_live, 1);
}

TEST_F(PoolHooksTest, TheEndOfALeaseLeavesTheHookToThePool) {
  FERMATA_CHECKS("POOL-10", "POOL-18");
  auto options = service.options(1);
  options.before_release = [&](Connection& connection) {
    delay(5ms);
    served.push_back("reset" + std::to_string(connection.id));
    return true;
  };
  fixture.run([&] {
    Pool<Connection> pool("db", options);
    EXPECT_EQ(thrown_by([&] {
                const auto lease = pool.acquire();
                throw Error("in use");
              }),
              "fermata::Error: in use");
    EXPECT_TRUE(served.empty()) << "the destructor did not wait";
    EXPECT_EQ(pool.info(), "Pool(idle=0, active=1, reserved=0, max=1)") << "until the hook ends";
    const auto again = pool.acquire();
    EXPECT_EQ(served, Strings({"reset1"}));
    EXPECT_EQ(again->id, 1);
  });
  EXPECT_EQ(served, Strings({"reset1", "reset1"})) << "the run waits for it";
  EXPECT_EQ(service.live, 0);
}

TEST_F(PoolHooksTest, ACancelledCallerReleasesAllTheSame) {
  FERMATA_CHECKS("POOL-10", "POOL-18");
  auto options = service.options(1);
  options.before_release = [&](Connection&) {
    delay(5ms);
    served.emplace_back("reset");
    return true;
  };
  fixture.run([&] {
    Pool<Connection> pool(options);
    const auto user = spawn([&] {
      auto lease = pool.acquire();
      try {
        delay(1h);
      } catch (const Cancellation&) {
        lease.release();
        throw;
      }
    });
    suspend();
    user.cancel();
    EXPECT_EQ(end_of(user), "fermata::Cancellation: Coroutine cancelled");
    EXPECT_EQ(served, Strings({"reset"}));
    EXPECT_EQ(pool.idle_count(), 1u);
  });
}

TEST_F(PoolHooksTest, ACancellationInsideAHookDestroysTheResourceAndIsThrown) {
  FERMATA_CHECKS("POOL-20", "POOL-04", "POOL-07");
  auto options = service.options(1);
  bool slow = false;
  options.before_acquire = options.before_release = [&](Connection&) {
    if (slow) delay(1h);
    return true;
  };
  service.on_disconnect = [] { delay(1ms); };
  fixture.run([&] {
    Pool<Connection> pool(options);
    for (const bool in_acquire : {true, false}) {
      pool.acquire().release();
      const auto user = spawn([&] {
        slow = in_acquire;
        auto lease = pool.acquire();
        slow = true;
        lease.release();
      });
      const auto next = spawn_user("next", pool, served);
      suspend();
      suspend();
      slow = false;
      user.cancel();
      EXPECT_EQ(end_of(user), "fermata::Cancellation: Coroutine cancelled");
      await(next);
      delay(10ms);
    }
    EXPECT_EQ(served, Strings({"next2", "next3"}));
    EXPECT_EQ(service.ended, (std::vector{1, 2}));
    pool.close();
  });
  EXPECT_EQ(service.most_live, 1);
}

TEST_F(PoolHooksTest, ACancellationInsideTheFactoryOrTheDestructorIsThrown) {
  FERMATA_CHECKS("POOL-20", "POOL-08", "POOL-01");
  auto options = service.options(1);
  options.before_acquire = [](Connection&) { return false; };
  fixture.run([&] {
    Pool<Connection> pool(options);
    service.on_connect = [] { delay(1h); };
    const auto maker = spawn([&] { static_cast<void>(pool.acquire()); });
    const auto next = spawn_user("next", pool, served);
    suspend();
    service.on_connect = nullptr;
    maker.cancel();
    EXPECT_THROW(await(maker), Cancellation);
    await(next);
    service.on_disconnect = [] { delay(1h); };
    const auto ender = spawn([&] { static_cast<void>(pool.acquire()); });
    suspend();
    EXPECT_EQ(pool.active_count(), 1u) << "being destroyed";
    ender.cancel();
    EXPECT_THROW(await(ender), Cancellation);
    EXPECT_EQ(pool.count(), 0u);
    EXPECT_EQ(service.ended, (std::vector{1}));
  });
}

TEST_F(PoolHooksTest, AnExceptionInFlightSurvivesARelease) {
  FERMATA_CHECKS("POOL-18");
  auto options = service.options(1);
  options.before_release = [](Connection&) -> bool {
    suspend();
    throw Error("not clean");
  };
  service.on_disconnect = [] {
    suspend();
    throw Error("reset");
  };
  fixture.run([&] {
    Pool<Connection> pool("db", options);
    struct Releases {
      Lease<Connection> lease;
      ~Releases() { lease.release(); }
    };
    EXPECT_EQ(thrown_by([&] {
                const Releases guard{pool.acquire()};
                throw Error("in flight");
              }),
              "fermata::Error: in flight");
    try {
      throw Error("handled");
    } catch (const Error& error) {
      auto lease = pool.acquire();
      EXPECT_EQ(thrown_by([&] { lease.release(); }), "fermata::Error: reset");
      EXPECT_STREQ(error.what(), "handled");
      EXPECT_EQ(message_of(std::current_exception()), "handled");
    }
    EXPECT_EQ(pool.count(), 0u);
  });
  EXPECT_NE(fixture.log.find("An error while a resource was given back: pool 'db' created at "),
            std::string::npos)
      << fixture.log;
}

TEST_F(PoolHooksTest, ReleasesAlsoWhileTheRunShutsDown) {
  FERMATA_CHECKS("POOL-04", "POOL-10");
  auto options = service.options(2);
  options.before_release = [&](Connection&) {
    served.emplace_back("reset");
    return true;
  };
  fixture.run([&] {
    Pool<Connection> pool(options);
    const auto user = spawn([&] {
      const auto lease = pool.acquire();
      delay(1h);
    });
    suspend();
    shutdown();
    EXPECT_THROW(await(user), Cancellation);
  });
  EXPECT_EQ(served, Strings({"reset"}));
  EXPECT_EQ(service.live, 0);
}

TEST_F(PoolHooksTest, AForcedEndDestroysWithoutWaiting) {
  FERMATA_CHECKS("POOL-04");
  auto options = service.options(2);
  options.before_release = [&](Connection&) {
    delay(1h);
    return true;
  };
  RuntimeOptions impatient;
  impatient.shutdown_deadline = 1ms;
  TestRuntime forced(impatient);
  forced.run([&] {
    Pool<Connection> pool(options);
    const auto user = spawn([&] {
      const auto lease = pool.acquire();
      EXPECT_THROW(delay(1h), Cancellation);
      EXPECT_THROW(delay(1h), Cancellation) << "the deadline has passed";
    });
    suspend();
    shutdown();
  });
  EXPECT_EQ(service.made, 1);
  EXPECT_EQ(service.live, 0);
}

}  // namespace
}  // namespace fermata::test
