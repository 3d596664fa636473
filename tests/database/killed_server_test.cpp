// SPDX-License-Identifier: Apache-2.0

// The bank on a server that is killed and started again while money moves. Three times here;
// FERMATA_TEST_KILLS says how often else.

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "examples/bank/bank.hpp"
#include "fermata/runtime/core/spawn.hpp"
#include "fermata/runtime/core/suspend.hpp"
#include "fermata/runtime/io/offload.hpp"
#include "fermata/runtime/sync/await.hpp"
#include "tests/database/driver_fixture.hpp"

namespace fermata::database_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kBankAccounts = 5;
constexpr std::int64_t kBankBalance = 1'000;
constexpr int kClerks = 8;

using Holdings = std::map<std::int64_t, std::int64_t>;

class KilledServer : public ::testing::Test {
 protected:
  void SetUp() override {
    url_ = std::getenv("FERMATA_TEST_POSTGRESQL");
    control_ = std::getenv("FERMATA_TEST_POSTGRESQL_CONTROL");
    if (url_ == nullptr || control_ == nullptr) GTEST_SKIP() << "no PostgreSQL";
    if (const char* const kills = std::getenv("FERMATA_TEST_KILLS")) kills_ = std::stoi(kills);
  }
  void kill() const {
    const std::string command = std::string(control_) + " restart";
    EXPECT_EQ(offload([command] { return std::system(command.c_str()); }), 0);
  }
  /// `work` until it is answered; each end of it is an answer or a typed error.
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
      delay(20ms);
    }
  }
  void work(bank::Bank& bank, int clerk, Holdings& expected) {
    for (int i = 0; !closing_; ++i) {
      const std::string id = "c" + std::to_string(clerk) + "." + std::to_string(i);
      const auto from = static_cast<std::int64_t>(1 + random(kBankAccounts));
      const auto to = static_cast<std::int64_t>(1 + random(kBankAccounts));
      try {
        until_answered([&] { bank.transfer(id, from, to, 1); });
      } catch (const bank::Refused&) {
        continue;
      }
      --expected[from];
      ++expected[to];
    }
  }

  const char* url_ = nullptr;
  const char* control_ = nullptr;
  int kills_ = 3;
  int errors_ = 0;
  bool closing_ = false;
};

TEST_F(KilledServer, EveryTransferIsMadeOnceAndThePoolRecovers) {
  in_runtime([this] {
    auto database = db::Database::connect(url_, {.max = 4, .acquire_timeout = 30s});
    database.execute("DROP TABLE IF EXISTS account, transfer");
    bank::Bank bank(database);
    bank.open(kBankAccounts, kBankBalance);
    Holdings expected;
    for (std::int64_t id = 1; id <= kBankAccounts; ++id) expected[id] = kBankBalance;
    std::vector<Coroutine<>> clerks;
    for (int clerk = 0; clerk < kClerks; ++clerk) {
      clerks.push_back(spawn([&, clerk] { work(bank, clerk, expected); }));
    }
    for (int i = 0; i < kills_; ++i) {
      delay(Duration(200ms) + random(200) * 1ms);
      kill();
    }
    delay(100ms);
    closing_ = true;
    for (const auto& clerk : clerks) await(clerk);
    EXPECT_GT(errors_, 0);
    Holdings holdings;
    for (const bank::Account& account : bank.accounts()) holdings[account.id] = account.balance;
    EXPECT_EQ(holdings, expected);
    EXPECT_LE(database.metrics().idle + database.metrics().active, 4u);
    database.execute("DROP TABLE account, transfer");
  });
}

}  // namespace
}  // namespace fermata::database_test
