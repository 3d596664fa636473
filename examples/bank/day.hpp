// SPDX-License-Identifier: Apache-2.0
#pragma once

// A day at the bank, with any database, however unreliable. Tellers ask again for what they have no
// answer to; one who is sent home in the middle leaves the rest to the next. At the end every
// transfer was made once, or refused.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fermata/runtime.hpp>
#include <map>
#include <string>
#include <vector>

#include "examples/bank/bank.hpp"

namespace bank {

inline constexpr std::int64_t kAccounts = 3;
inline constexpr std::int64_t kBalance = 20;
inline constexpr int kDesks = 3;
inline constexpr int kTransfers = 4;    // At each desk.
inline constexpr int kSentHome = 2;     // Tellers of a desk, at most.
inline constexpr unsigned kShift = 20;  // Milliseconds of virtual time, below which they are.

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
    fermata::delay(std::chrono::seconds(1));
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

inline std::vector<Order> random_orders(int desk) {
  std::vector<Order> orders;
  for (int i = 0; i < kTransfers; ++i) {
    orders.push_back({.id = "t" + std::to_string(desk) + "." + std::to_string(i),
                      .from = static_cast<std::int64_t>(1 + fermata::random(kAccounts)),
                      .to = static_cast<std::int64_t>(1 + fermata::random(kAccounts + 1)),
                      .amount = static_cast<std::int64_t>(1 + fermata::random(kBalance))});
  }
  return orders;  // Some to an account that nobody has.
}

/// The orders of a desk, of which the first ones are done.
struct Pile {
  std::vector<Order> orders;
  std::size_t done = 0;
};

/// What is on paper: it is there still when the bank's own machine has crashed.
struct Books {
  Ledger expected = {};
  std::vector<Pile> piles = {};
};

inline void begin(Books& books) {
  for (std::int64_t account = 1; account <= kAccounts; ++account) {
    books.expected[account] = kBalance;
  }
  for (int desk = 0; desk < kDesks; ++desk) books.piles.push_back({.orders = random_orders(desk)});
}

/// A desk with orders and, until all are done, somebody who works at it.
class Desk {
 public:
  Desk(Bank& bank, Ledger& expected, Pile& pile) : bank_(bank), expected_(expected), pile_(pile) {}

  void open() {
    for (int sent_home = 0; sent_home < kSentHome; ++sent_home) {
      fermata::Scope shift("shift");
      shift.spawn("teller", [this] { work(); });
      try {
        return shift.await_completion(
            {.timeout = fermata::random(kShift) * std::chrono::milliseconds(1)});
      } catch (const fermata::Timeout&) {
        shift.cancel();
        shift.await_after_cancellation();
      }
    }
    work();
  }

 private:
  void work() {
    for (; pile_.done < pile_.orders.size(); ++pile_.done) transfer(pile_.orders[pile_.done]);
  }

  void transfer(const Order& order) {
    try {
      until_answered([&] { bank_.transfer(order.id, order.from, order.to, order.amount); });
      expected_[order.from] -= order.amount;
      expected_[order.to] += order.amount;
    } catch (const Refused&) {
    }
  }

  Bank& bank_;
  Ledger& expected_;
  Pile& pile_;
};

inline Ledger holdings(Bank& bank) {
  Ledger holdings;
  for (const Account& account : bank.accounts()) holdings[account.id] = account.balance;
  return holdings;
}

/// Goes on where `books` end.
inline void spend_a_day(fermata::db::Database& database, Books& books) {
  Bank bank(database);
  until_answered([&] { bank.open(kAccounts, kBalance); });
  if (books.piles.empty()) begin(books);
  fermata::Scope desks("desks");
  for (Pile& pile : books.piles) {
    desks.spawn("desk", [&] { Desk(bank, books.expected, pile).open(); });
  }
  desks.await_completion();
  until_answered([&] { EXPECT_EQ(holdings(bank), books.expected); });
}

inline void spend_a_day(fermata::db::Database& database) {
  Books books;
  spend_a_day(database, books);
}

}  // namespace bank
