// SPDX-License-Identifier: Apache-2.0

// The bank over the real libpq: on a database machine that restarts, behind a network that delays
// and breaks.

#include <gtest/gtest.h>

#include <fermata/db/postgresql/driver.hpp>
#include <fermata/sim.hpp>
#include <fermata/sim/db/server.hpp>
#include <memory>
#include <utility>

#include "examples/bank/day.hpp"

namespace {

using namespace std::chrono_literals;

// A server that is silent is given up within 6 s.
constexpr const char* kUrl =
    "postgresql://ann:secret@db:5432/bank?sslmode=disable&gssencmode=disable"
    "&keepalives_idle=3&keepalives_interval=1&keepalives_count=3&tcp_user_timeout=5000";

fermata::db::Database connect(fermata::db::DatabaseOptions options) {
  return {fermata::db::postgresql::make_driver(), fermata::db::parse_url(kUrl), std::move(options)};
}

void balances(fermata::sim::World& world, const fermata::db::DatabaseOptions& options) {
  const auto ledger = std::make_shared<fermata::sim::Database>("bank");
  const auto serve = [ledger] { fermata::sim::run_database(*ledger, {"0.0.0.0", 5432}); };
  world.service("db", serve).may_crash();
  world.node("bank", [options] {
    auto database = connect(options);
    bank::spend_a_day(database);
    EXPECT_LE(database.metrics().idle + database.metrics().active, 2u);
    fermata::delay(10s);  // What cancels commands has given up then, and its threads end with this.
  });
  world.at(20s, [&] { world.heal(); });
  world.run();
}

SIM_TEST(BankOverLibpq, Balances) { balances(world, {.max = 2, .acquire_timeout = 30s}); }

SIM_TEST(BankOverLibpq, BalancesWithPreparedCommands) {
  balances(world, {.max = 2, .acquire_timeout = 30s, .statement_cache = 8});
}

// A cancel request has a connection of its own, and may come late. A command of another coroutine
// must not be what it hits.
SIM_TEST(BankOverLibpq, ACancellationHitsNobodyElse) {
  const auto ledger = std::make_shared<fermata::sim::Database>("bank");
  world.service("db", [ledger] { fermata::sim::run_database(*ledger, {"0.0.0.0", 5432}); });
  world.node("bank", [] {
    auto database = connect({.max = 1, .acquire_timeout = 60s});
    fermata::Scope impatient("impatient");
    impatient.spawn(
        "one", [&] { bank::until_answered([&] { database.execute("SELECT pg_sleep(0.002)"); }); });
    fermata::delay(fermata::random(20) * 1ms);
    impatient.cancel();
    impatient.await_after_cancellation();
    for (int i = 0; i < 3; ++i) {
      bank::until_answered([&] {
        try {
          EXPECT_EQ(database.query_one<int>("SELECT 1"), 1);
        } catch (const fermata::db::QueryError& error) {
          ADD_FAILURE() << error.what();
        }
      });
    }
  });
  world.at(20s, [&] { world.heal(); });
  world.run();
}

}  // namespace
