// SPDX-License-Identifier: Apache-2.0

// The bank, unchanged, on a database machine that restarts, behind a network that delays and
// breaks. Tellers ask again for what they have no answer to, and at the end every transfer that was
// answered was made once, and no other.

#include <fermata/sim.hpp>
#include <fermata/sim/db/driver.hpp>
#include <fermata/sim/db/server.hpp>
#include <map>
#include <string>
#include <vector>

#include "examples/bank/bank.hpp"

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kAccounts = 3;
constexpr std::int64_t kBalance = 20;
constexpr int kTellers = 3;
constexpr int kTransfers = 4;  // Of each teller.

fermata::db::Database database_at(const std::string& host, fermata::db::DatabaseOptions options) {
  return {fermata::sim::make_database_driver(),
          fermata::db::parse_url("sim://" + host + ":5432/bank"), std::move(options)};
}

/// `work` until it is answered, whatever happens to the database meanwhile; not for ever.
template <class Work>
void until_answered(Work&& work) {
  for (int attempt = 0;; ++attempt) {
    try {
      return work();
    } catch (const fermata::db::DatabaseError&) {
      if (attempt == 100) throw;
    } catch (const fermata::Timeout&) {
      if (attempt == 100) throw;
    }
    fermata::delay(1s);
  }
}

/// What the accounts hold when the transfers that were answered have been made, and no others.
using Ledger = std::map<std::int64_t, std::int64_t>;

void transfer_at_random(bank::Bank& bank, int teller, Ledger& expected) {
  for (int i = 0; i < kTransfers; ++i) {
    const std::string id = "t" + std::to_string(teller) + "." + std::to_string(i);
    const auto from = static_cast<std::int64_t>(1 + fermata::random(kAccounts));
    const auto to = static_cast<std::int64_t>(1 + fermata::random(kAccounts + 1));  // Or nobody.
    const auto amount = static_cast<std::int64_t>(1 + fermata::random(kBalance));
    try {
      until_answered([&] { bank.transfer(id, from, to, amount); });
      expected[from] -= amount;
      expected[to] += amount;
    } catch (const bank::Refused&) {
    }
  }
}

Ledger holdings(bank::Bank& bank) {
  Ledger holdings;
  for (const bank::Account& account : bank.accounts()) holdings[account.id] = account.balance;
  return holdings;
}

SIM_TEST(BankLedger, Balances) {
  fermata::sim::Database ledger("bank");
  world.service("db", [&] { fermata::sim::run_database(ledger, {"0.0.0.0", 5432}); }).may_crash();
  world.node("bank", [&] {
    auto database = database_at("db", {.name = "bank", .max = 2, .acquire_timeout = 30s});
    bank::Bank bank(database);
    until_answered([&] { bank.open(kAccounts, kBalance); });
    Ledger expected;
    for (std::int64_t account = 1; account <= kAccounts; ++account) expected[account] = kBalance;
    std::vector<fermata::Coroutine<>> tellers;
    for (int teller = 0; teller < kTellers; ++teller) {
      tellers.push_back(
          fermata::spawn("teller", [&, teller] { transfer_at_random(bank, teller, expected); }));
    }
    for (const auto& teller : tellers) fermata::await(teller);
    until_answered([&] { EXPECT_EQ(holdings(bank), expected); });
    EXPECT_LE(database.metrics().idle + database.metrics().active, 2u);
  });
  world.at(20s, [&] { world.heal(); });
  world.run();
}

}  // namespace
