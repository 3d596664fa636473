// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "examples/bank/bank.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/database/driver_fixture.hpp"

namespace fermata::database_test {

/// The bank at work on the database of a URL while something is done to that. Each call has to end
/// in an answer or a typed error, each transfer has to be made once, and nobody starts anything
/// anew.
class BankLoad {
 public:
  explicit BankLoad(std::string url) : url_(std::move(url)) {}

  /// Inside a coroutine. `disturb` must have hit somebody by the time it returns.
  void during(const std::function<void()>& disturb) {
    using std::chrono_literals::operator""ms;
    using std::chrono_literals::operator""s;
    auto database = db::Database::connect(url_, {.max = kConnections, .acquire_timeout = 30s});
    until_answered([&] { database.execute("DROP TABLE IF EXISTS account, transfer"); });
    bank::Bank bank(database);
    until_answered([&] { bank.open(kAccounts, kBalance); });
    for (std::int64_t id = 1; id <= kAccounts; ++id) expected_[id] = kBalance;
    errors_ = 0;
    std::vector<Coroutine<>> clerks;
    for (int clerk = 0; clerk < kClerks; ++clerk) {
      clerks.push_back(spawn([this, &bank, clerk] { work(bank, clerk); }));
    }
    disturb();
    delay(100ms);
    closing_ = true;
    for (const auto& clerk : clerks) await(clerk);
    EXPECT_GT(errors_, 0);
    EXPECT_GT(transfers_, 0);
    until_answered([&] {
      Holdings holdings;
      for (const bank::Account& account : bank.accounts()) holdings[account.id] = account.balance;
      EXPECT_EQ(holdings, expected_);
    });
    const db::DatabaseMetrics metrics = database.metrics();
    EXPECT_LE(metrics.idle + metrics.active, static_cast<std::size_t>(kConnections));
    until_answered([&] { database.execute("DROP TABLE IF EXISTS account, transfer"); });
    ::testing::Test::RecordProperty("transfers", transfers_);
    ::testing::Test::RecordProperty("errors", errors_);
  }

 private:
  static constexpr std::int64_t kAccounts = 5;
  static constexpr std::int64_t kBalance = 1'000;
  static constexpr std::int64_t kConnections = 4;
  static constexpr int kClerks = 8;

  using Holdings = std::map<std::int64_t, std::int64_t>;

  template <class Work>
  void until_answered(Work&& work) {
    for (;;) {
      try {
        return work();
      } catch (const db::DatabaseError&) {
        ++errors_;
      } catch (const Timeout&) {
        ++errors_;
      }
      delay(std::chrono::milliseconds(20));
    }
  }

  void work(bank::Bank& bank, int clerk) {
    for (int i = 0; !closing_; ++i) {
      const std::string id = "c" + std::to_string(clerk) + "." + std::to_string(i);
      const auto from = static_cast<std::int64_t>(1 + random(kAccounts));
      const auto to = static_cast<std::int64_t>(1 + random(kAccounts));
      try {
        until_answered([&] { bank.transfer(id, from, to, 1); });
      } catch (const bank::Refused&) {
        continue;
      }
      --expected_[from];
      ++expected_[to];
      ++transfers_;
    }
  }

  std::string url_;
  Holdings expected_;
  int errors_ = 0;
  int transfers_ = 0;
  bool closing_ = false;
};

}  // namespace fermata::database_test
