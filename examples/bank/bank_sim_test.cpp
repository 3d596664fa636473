// SPDX-License-Identifier: Apache-2.0

// The bank, unchanged, on a database machine that restarts, behind a network that delays and
// breaks.

#include <fermata/sim.hpp>
#include <fermata/sim/db/driver.hpp>
#include <fermata/sim/db/server.hpp>
#include <memory>
#include <string>
#include <utility>

#include "examples/bank/day.hpp"

namespace {

using namespace std::chrono_literals;

fermata::db::Database database_at(const std::string& host, fermata::db::DatabaseOptions options) {
  return {fermata::sim::make_database_driver(),
          fermata::db::parse_url("sim://" + host + ":5432/bank"), std::move(options)};
}

SIM_TEST(BankLedger, Balances) {
  const auto ledger = std::make_shared<fermata::sim::Database>("bank");
  const auto serve = [ledger] { fermata::sim::run_database(*ledger, {"0.0.0.0", 5432}); };
  world.service("db", serve).may_crash();
  world.node("bank", [&] {
    auto database = database_at("db", {.name = "bank", .max = 2, .acquire_timeout = 30s});
    bank::spend_a_day(database);
    EXPECT_LE(database.metrics().idle + database.metrics().active, 2u);
  });
  world.at(20s, [&] { world.heal(); });
  world.run();
}

}  // namespace
