// SPDX-License-Identifier: Apache-2.0

// The bank on SQLite, through Fermata's driver, on a machine that crashes at any call.

#include <array>
#include <fermata/core/assertions.hpp>
#include <fermata/db/database.hpp>
#include <fermata/db/sqlite/driver.hpp>
#include <fermata/sim.hpp>
#include <map>
#include <memory>
#include <string>

#include "examples/bank/bank.hpp"

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kAccounts = 3;
constexpr std::int64_t kBalance = 20;
constexpr int kDesks = 2;
constexpr int kTransfers = 4;

/// What the outside knows of the bank.
struct Books {
  std::map<std::int64_t, std::int64_t> expected;
  std::array<int, kDesks> done = {};
  unsigned opened = 0;
};

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

void work_at(bank::Bank& bank, Books& books, int desk) {
  for (int& done = books.done[static_cast<std::size_t>(desk)]; done < kTransfers; ++done) {
    const std::string id = std::to_string(desk) + "." + std::to_string(done);
    const std::int64_t from = 1 + (desk + done) % kAccounts;
    const std::int64_t to = 1 + (desk + 2 * done) % (kAccounts + 1);
    const std::int64_t amount = 1 + desk * 5 + done * 3;
    try {
      until_answered([&] { bank.transfer(id, from, to, amount); });
      books.expected[from] -= amount;
      books.expected[to] += amount;
    } catch (const bank::Refused&) {
    }
  }
}

void keep_books(Books& books) {
  fermata::db::Database database(
      fermata::db::sqlite::make_driver(),
      fermata::db::parse_url("sqlite:///bank.db?transaction=immediate"),
      {.name = "bank",
       .max = 2,
       .acquire_timeout = 30s,
       .attributes = {{"journal_mode", "WAL"}, {"synchronous", "FULL"}}});
  bank::Bank bank(database);
  until_answered([&] { bank.open(kAccounts, kBalance); });
  ++books.opened;
  fermata::Scope desks("desks");
  for (int desk = 0; desk < kDesks; ++desk) {
    desks.spawn("desk", [&, desk] { work_at(bank, books, desk); });
  }
  desks.await_completion();
  until_answered([&] {
    std::map<std::int64_t, std::int64_t> found;
    for (const bank::Account& account : bank.accounts()) found[account.id] = account.balance;
    EXPECT_EQ(found, books.expected);
  });
}

SIM_TEST(SqliteDriver, KeepsTheBooksOfABankThatCrashes) {
  const auto books = std::make_shared<Books>();
  for (std::int64_t account = 1; account <= kAccounts; ++account)
    books->expected[account] = kBalance;
  world.node("bank", [=] { keep_books(*books); }).may_crash();
  world.at(20s, [&] { world.heal(); });
  world.run();
  FERMATA_SOMETIMES_GE(books->opened, 2u, "it is opened again");
}

}  // namespace
