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

/// A desk with orders and, until all are done, somebody who works at it.
class Desk {
 public:
  Desk(Bank& bank, Ledger& expected, int number)
      : bank_(bank), expected_(expected), orders_(random_orders(number)) {}

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
    for (; done_ < orders_.size(); ++done_) transfer(orders_[done_]);
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
  std::vector<Order> orders_;
  std::size_t done_ = 0;
};

inline Ledger holdings(Bank& bank) {
  Ledger holdings;
  for (const Account& account : bank.accounts()) holdings[account.id] = account.balance;
  return holdings;
}

inline void spend_a_day(fermata::db::Database& database) {
  Bank bank(database);
  until_answered([&] { bank.open(kAccounts, kBalance); });
  Ledger expected;
  for (std::int64_t account = 1; account <= kAccounts; ++account) expected[account] = kBalance;
  fermata::Scope desks("desks");
  for (int number = 0; number < kDesks; ++number) {
    desks.spawn("desk", [&, number] { Desk(bank, expected, number).open(); });
  }
  desks.await_completion();
  until_answered([&] { EXPECT_EQ(holdings(bank), expected); });
}

}  // namespace bank
