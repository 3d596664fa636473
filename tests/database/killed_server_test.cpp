// SPDX-License-Identifier: Apache-2.0

// The bank on a server that is killed and started again while money moves. Three times here;
// FERMATA_TEST_KILLS says how often else, and FERMATA_TEST_KILL_INTERVAL_MS how far apart.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "fermata/io/offload.hpp"
#include "tests/database/bank_load.hpp"

namespace fermata::database_test {
namespace {

using namespace std::chrono_literals;

class KilledServer : public ::testing::Test {
 protected:
  void SetUp() override {
    url_ = std::getenv("FERMATA_TEST_POSTGRESQL");
    control_ = std::getenv("FERMATA_TEST_POSTGRESQL_CONTROL");
    if (url_ == nullptr || control_ == nullptr) GTEST_SKIP() << "no PostgreSQL";
    if (const char* const kills = std::getenv("FERMATA_TEST_KILLS")) kills_ = std::stoi(kills);
    if (const char* const interval = std::getenv("FERMATA_TEST_KILL_INTERVAL_MS")) {
      interval_ = std::stoi(interval) * 1ms;
    }
  }
  void kill() const {
    const std::string command = std::string(control_) + " restart";
    EXPECT_EQ(offload([command] { return std::system(command.c_str()); }), 0);
  }

  const char* url_ = nullptr;
  const char* control_ = nullptr;
  int kills_ = 3;
  Duration interval_ = 200ms;
};

TEST_F(KilledServer, EveryTransferIsMadeOnceAndThePoolRecovers) {
  in_runtime([this] {
    BankLoad(url_).during([this] {
      for (int i = 0; i < kills_; ++i) {
        delay(interval_ + random(200) * 1ms);
        kill();
      }
    });
  });
}

}  // namespace
}  // namespace fermata::database_test
