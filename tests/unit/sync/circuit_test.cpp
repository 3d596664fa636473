// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/circuit.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/pool.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/impatient.hpp"
#include "tests/support/pool_bench.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Strings = std::vector<std::string>;

/// Writes down what it hears.
class Listener final : public CircuitStrategy {
 public:
  void report_success(Circuit&) override { heard.emplace_back("success"); }
  void report_failure(Circuit&, const std::exception_ptr& error) override {
    heard.push_back(message_of(error));
    if (throws) throw Error("broken strategy");
    if (suspends) suspend();
  }
  bool should_recover(Circuit&) override { return recovers; }

  Strings heard;
  bool recovers = false;
  bool throws = false;
  bool suspends = false;
};

class CircuitTest : public RuntimeFixture {
 protected:
  Service service;
  Strings served;
};

MAIN_TEST_F(CircuitTest, NobodyAcquiresWhileItIsOpen) {
  FERMATA_CHECKS("POOL-16");
  Pool<Connection> pool("db", service.options(2));
  auto mine = pool.acquire();
  EXPECT_EQ(pool.state(), CircuitState::Active);
  pool.deactivate();
  EXPECT_STREQ(to_string(pool.state()), "INACTIVE");
  const std::string error = thrown_by([&] { static_cast<void>(pool.acquire()); });
  EXPECT_EQ(
      error.find("fermata::ServiceUnavailable: Service is unavailable "
                 "(circuit breaker is open)\n  previous: fermata::Error: pool 'db' created at "),
      0u)
      << error;
  EXPECT_FALSE(pool.try_acquire());
  mine.release();
  EXPECT_EQ(pool.info(), "Pool(idle=1, active=0, reserved=0, max=2)");
  pool.recover();
  EXPECT_STREQ(to_string(pool.state()), "RECOVERING");
  EXPECT_EQ(pool.acquire()->id, 1);
  pool.deactivate();
  pool.activate();
  EXPECT_STREQ(to_string(pool.state()), "ACTIVE");
  EXPECT_EQ(pool.acquire()->id, 1);
}

MAIN_TEST_F(CircuitTest, OpeningFailsWhoeverWaitsAlsoWithAReservation) {
  FERMATA_CHECKS("POOL-16", "POOL-02");
  Pool<Connection> pool(service.options(1));
  auto mine = pool.acquire();
  std::vector<Coroutine<>> waiters;
  for (int i = 0; i < 2; ++i) {
    waiters.push_back(spawn([&] { static_cast<void>(pool.acquire()); }));
  }
  suspend();
  mine.release();
  EXPECT_EQ(pool.reserved_count(), 1u);
  pool.deactivate();
  EXPECT_EQ(pool.info(), "Pool(idle=1, active=0, reserved=0, max=1)");
  pool.activate();
  for (const auto& waiter : waiters) EXPECT_THROW(await(waiter), ServiceUnavailable);
  EXPECT_EQ(pool.idle_count(), 1u);
}

TEST_F(CircuitTest, TheStrategyCanBeReplaced) {
  const auto first = std::make_shared<Listener>();
  const auto second = std::make_shared<Listener>();
  auto options = service.options(1);
  options.strategy = first;
  fixture.run([&] {
    Pool<Connection> pool(options);
    pool.acquire().release();
    pool.set_strategy(second);
    pool.acquire().release();
    pool.deactivate();
    second->recovers = true;
    pool.acquire().release();
    EXPECT_EQ(pool.state(), CircuitState::Recovering) << "the new one was asked, the state stays";
    pool.set_strategy(nullptr);
    pool.acquire().release();
  });
  EXPECT_EQ(first->heard, Strings({"success"}));
  EXPECT_EQ(second->heard, Strings({"success", "success"}));
}

TEST_F(CircuitTest, AStrategyMayReplaceItself) {
  class Leaves final : public CircuitStrategy {
   public:
    explicit Leaves(Pool<Connection>*& pool) : pool_(pool) {}
    void report_success(Circuit&) override { pool_->set_strategy(nullptr); }
    void report_failure(Circuit&, const std::exception_ptr&) override {}
    bool should_recover(Circuit&) override { return false; }

   private:
    Pool<Connection>*& pool_;
  };
  fixture.run([&] {
    Pool<Connection>* at = nullptr;
    auto options = service.options(1);
    options.strategy = std::make_shared<Leaves>(at);
    Pool<Connection> pool(std::move(options));
    at = &pool;
    pool.acquire().release();
    pool.acquire().release();
  });
}

TEST_F(CircuitTest, AStrategyHearsOfResourcesAndDecidesWhenToTryAgain) {
  const auto listener = std::make_shared<Listener>();
  auto options = service.options(1);
  options.strategy = listener;
  bool clean = true;
  options.before_release = [&](Connection& connection) {
    if (connection.broken) throw Error("broken pipe");
    return clean;
  };
  fixture.run([&] {
    Pool<Connection> pool(options);
    pool.acquire().release();
    clean = false;
    pool.acquire().release();
    auto third = pool.acquire();
    third->broken = true;
    third.release();
    pool.acquire().discard();
    pool.acquire().discard(std::make_exception_ptr(Error("protocol error")));
    service.on_connect = [] { throw Error("refused"); };
    EXPECT_THROW(static_cast<void>(pool.acquire()), Error);
    EXPECT_EQ(listener->heard,
              Strings({"success", "Resource validation failed", "broken pipe",
                       "Resource validation failed", "protocol error", "refused"}));
    service.on_connect = nullptr;
    pool.deactivate();
    EXPECT_THROW(static_cast<void>(pool.acquire()), ServiceUnavailable);
    listener->recovers = true;
    auto again = pool.acquire();
    EXPECT_EQ(pool.state(), CircuitState::Recovering);
  });
}

TEST_F(CircuitTest, WhatIsUnwoundByForceIsNoFailureOfTheService) {
  const auto listener = std::make_shared<Listener>();
  auto pool_options = service.options(1);
  pool_options.strategy = listener;
  pool_options.before_release = [](Connection&) { return true; };
  Impatient observer(3);
  RuntimeOptions options;
  options.observer = &observer;
  TestRuntime abandoned(options);
  EXPECT_EQ(thrown_by([&] {
              abandoned.run([&] {
                Pool<Connection> pool(pool_options);
                const auto lease = pool.acquire();
                for (;;) suspend();
              });
            }),
            "fermata::backend::AbandonRun");
  EXPECT_EQ(service.ended, std::vector{1});
  EXPECT_EQ(listener->heard, Strings()) << "nobody has looked at the resource";
}

TEST_F(CircuitTest, AFailingStrategyHarmsNobody) {
  const auto listener = std::make_shared<Listener>();
  auto options = service.options(1);
  options.strategy = listener;
  fixture.run([&] {
    Pool<Connection> pool("db", options);
    listener->throws = true;
    pool.acquire().discard();
    listener->throws = false;
    listener->suspends = true;
    pool.acquire().discard();
    EXPECT_EQ(pool.count(), 0u);
  });
  EXPECT_NE(fixture.log.find("An error of the circuit's strategy: pool 'db' created at "),
            std::string::npos);
  EXPECT_NE(fixture.log.find("broken strategy"), std::string::npos);
  EXPECT_NE(fixture.log.find("must not suspend"), std::string::npos);
}

TEST_F(CircuitTest, ProbesDecideWhenTheyAreAskedTo) {
  FERMATA_CHECKS("POOL-16");
  auto options = service.options(3);
  options.probes = 1;
  fixture.run([&] {
    Pool<Connection> pool(options);
    const auto refused = [&] {
      EXPECT_THROW(static_cast<void>(pool.acquire()), ServiceUnavailable);
      EXPECT_FALSE(pool.try_acquire());
    };
    pool.recover();
    auto probe = pool.acquire();
    refused();
    probe.discard();
    EXPECT_EQ(pool.state(), CircuitState::Inactive);

    pool.recover();
    service.on_connect = [] { throw Error("refused"); };
    EXPECT_THROW(static_cast<void>(pool.acquire()), Error);
    EXPECT_EQ(pool.state(), CircuitState::Inactive);

    pool.recover();
    service.on_connect = [] { delay(1h); };
    const auto cancelled = spawn([&] { static_cast<void>(pool.acquire()); });
    suspend();
    refused();
    cancelled.cancel();
    EXPECT_THROW(await(cancelled), Cancellation);
    EXPECT_EQ(pool.state(), CircuitState::Recovering) << "no outcome: the next one tries";

    service.on_connect = nullptr;
    auto second = pool.acquire();
    refused();
    second.release();
    EXPECT_EQ(pool.state(), CircuitState::Active);

    pool.deactivate();
    auto old = pool.state();
    EXPECT_EQ(old, CircuitState::Inactive);
  });
}

TEST_F(CircuitTest, OpensAfterFailuresInARowAndTriesAgainAfterTheCoolDown) {
  FERMATA_CHECKS("POOL-16");
  auto options = service.options(2);
  options.strategy = std::make_shared<ConsecutiveFailures>(2, 100ms);
  fixture.run([&] {
    Pool<Connection> pool(options);
    const auto fail = [&] { pool.acquire().discard(); };
    fail();
    pool.acquire().release();
    fail();
    EXPECT_EQ(pool.state(), CircuitState::Active) << "not in a row";
    fail();
    EXPECT_EQ(pool.state(), CircuitState::Inactive);
    delay(99ms);
    EXPECT_THROW(static_cast<void>(pool.acquire()), ServiceUnavailable);
    delay(1ms);
    fail();
    EXPECT_EQ(pool.state(), CircuitState::Inactive) << "one failure is enough";
    delay(100ms);
    pool.acquire().release();
    EXPECT_EQ(pool.state(), CircuitState::Active);
  });
}

TEST_F(CircuitTest, RefusesLimitsThatMakeNoSense) {
  EXPECT_EQ(thrown_by([] { ConsecutiveFailures(0, 1s); }),
            "fermata::UsageError: ConsecutiveFailures: limit of 0: expected 1 or more");
  EXPECT_EQ(thrown_by([] { ConsecutiveFailures(1, -1ns); }),
            "fermata::UsageError: ConsecutiveFailures: cool_down of -1 ns: expected zero or more");
}

}  // namespace
}  // namespace fermata::test
