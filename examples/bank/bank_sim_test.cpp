// SPDX-License-Identifier: Apache-2.0

// The bank, unchanged, on a database machine that restarts, behind a network that delays and
// breaks. Tellers ask again for what they have no answer to; one who is sent home in the middle
// leaves the rest to the next. At the end every transfer was made once, or refused.

#include <fermata/sim.hpp>
#include <fermata/sim/db/driver.hpp>
#include <fermata/sim/db/server.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "examples/bank/bank.hpp"

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kAccounts = 3;
constexpr std::int64_t kBalance = 20;
constexpr int kDesks = 3;
constexpr int kTransfers = 4;    // At each desk.
constexpr int kSentHome = 2;     // Tellers of a desk, at most.
constexpr unsigned kShift = 20;  // Milliseconds of virtual time, below which they are.

fermata::db::Database database_at(const std::string& host, fermata::db::DatabaseOptions options) {
  return {fermata::sim::make_database_driver(),
          fermata::db::parse_url("sim://" + host + ":5432/bank"), std::move(options)};
}

/// `work` until it is answered, whatever happens to the database meanwhile; not forever.
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

struct Order {
  std::string id;
  std::int64_t from;
  std::int64_t to;
  std::int64_t amount;
};

std::vector<Order> random_orders(int desk) {
  std::vector<Order> orders;
  for (int i = 0; i < kTransfers; ++i) {
    orders.push_back({.id = "t" + std::to_string(desk) + "." + std::to_string(i),
                      .from = static_cast<std::int64_t>(1 + fermata::random(kAccounts)),
                      .to = static_cast<std::int64_t>(1 + fermata::random(kAccounts + 1)),
                      .amount = static_cast<std::int64_t>(1 + fermata::random(kBalance))});
  }
  return orders;  // Some to an account that nobody has.
}

/// A desk with orders and, until all are done, somebody who works at it.
class Desk {
 public:
  Desk(bank::Bank& bank, Ledger& expected, int number)
      : bank_(bank), expected_(expected), orders_(random_orders(number)) {}

  void open() {
    for (int sent_home = 0; sent_home < kSentHome; ++sent_home) {
      fermata::Scope shift("shift");
      shift.spawn("teller", [this] { work(); });
      try {
        return shift.await_completion({.timeout = fermata::random(kShift) * 1ms});
      } catch (const fermata::Timeout&) {
        shift.cancel();
        shift.await_after_cancellation();
      }
    }
    work();
  }

 private:
  void work() {
    for (; done_ < orders_.size(); ++done_) transfer(orders_[done_]);
  }

  void transfer(const Order& order) {
    try {
      until_answered([&] { bank_.transfer(order.id, order.from, order.to, order.amount); });
      expected_[order.from] -= order.amount;
      expected_[order.to] += order.amount;
    } catch (const bank::Refused&) {
    }
  }

  bank::Bank& bank_;
  Ledger& expected_;
  std::vector<Order> orders_;
  std::size_t done_ = 0;
};

Ledger holdings(bank::Bank& bank) {
  Ledger holdings;
  for (const bank::Account& account : bank.accounts()) holdings[account.id] = account.balance;
  return holdings;
}

SIM_TEST(BankLedger, Balances) {
  const auto ledger = std::make_shared<fermata::sim::Database>("bank");
  const auto serve = [ledger] { fermata::sim::run_database(*ledger, {"0.0.0.0", 5432}); };
  world.service("db", serve).may_crash();
  world.node("bank", [&] {
    auto database = database_at("db", {.name = "bank", .max = 2, .acquire_timeout = 30s});
    bank::Bank bank(database);
    until_answered([&] { bank.open(kAccounts, kBalance); });
    Ledger expected;
    for (std::int64_t account = 1; account <= kAccounts; ++account) expected[account] = kBalance;
    fermata::Scope desks("desks");
    for (int number = 0; number < kDesks; ++number) {
      desks.spawn("desk", [&, number] { Desk(bank, expected, number).open(); });
    }
    desks.await_completion();
    until_answered([&] { EXPECT_EQ(holdings(bank), expected); });
    EXPECT_LE(database.metrics().idle + database.metrics().active, 2u);
  });
  world.at(20s, [&] { world.heal(); });
  world.run();
}

}  // namespace
