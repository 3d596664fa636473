// SPDX-License-Identifier: Apache-2.0
#pragma once

// Accounts in a database. Money moves, but is neither made nor lost.

#include <cstdint>
#include <fermata/runtime.hpp>
#include <fermata/db/database.hpp>
#include <string>
#include <vector>

namespace bank {

struct Account {
  std::int64_t id;
  std::int64_t balance;
};

/// Why a transfer does not take place.
class Refused : public fermata::Linkable<Refused> {
 public:
  using Linkable::Linkable;
};

class Bank {
 public:
  explicit Bank(fermata::db::Database& database) : database_(database) {}

  /// Makes what is not there yet: accounts 1 to `accounts`, each with `balance`.
  void open(std::int64_t accounts, std::int64_t balance) {
    database_.execute("CREATE TABLE IF NOT EXISTS account (id BIGINT PRIMARY KEY, balance BIGINT)");
    database_.execute("CREATE TABLE IF NOT EXISTS transfer (id VARCHAR(64) PRIMARY KEY)");
    if (!this->accounts().empty()) return;
    auto all = database_.transaction();
    for (std::int64_t id = 1; id <= accounts; ++id) {
      database_.execute("INSERT INTO account (id, balance) VALUES ($1, $2)", id, balance);
    }
    all.commit();
  }

  /// Once for each `id`: who does not know what became of a transfer asks for it again. Throws
  /// Refused, or as the database does; then nothing was moved, or it was moved and the answer lost.
  void transfer(const std::string& id, std::int64_t from, std::int64_t to, std::int64_t amount) {
    if (amount <= 0) throw Refused("an amount of nothing or less");
    auto whole = database_.transaction();  // Rolled back when it goes out of scope uncommitted.
    if (!database_.query("SELECT id FROM transfer WHERE id = $1", id).empty()) return;
    database_.execute("INSERT INTO transfer (id) VALUES ($1)", id);
    const auto taken = database_.execute(
        "UPDATE account SET balance = balance - $1 WHERE id = $2 AND balance >= $1", amount, from);
    if (taken.affected_rows == 0) throw Refused("not enough money");
    const auto given =
        database_.execute("UPDATE account SET balance = balance + $1 WHERE id = $2", amount, to);
    if (given.affected_rows == 0) throw Refused("no such account");
    whole.commit();
  }

  [[nodiscard]] std::vector<Account> accounts() {
    return database_.query<Account>("SELECT id, balance FROM account ORDER BY id");
  }

 private:
  fermata::db::Database& database_;
};

}  // namespace bank
