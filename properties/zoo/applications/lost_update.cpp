// SPDX-License-Identifier: Apache-2.0

// A deposit reads the balance, waits for the audit log, and writes what it has read plus its
// amount. Another one that comes in between is lost. (Z-AP-01)

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(LostUpdate) {
  int balance = 100;
  const auto deposit = [&](int amount) {
    const int seen = balance;
    delay(1ms);  // the audit log
    balance = (variant == Variant::Buggy ? seen : balance) + amount;
  };
  const auto salary = spawn("salary", [&] { deposit(50); });
  spawn_bystanders(3);
  delay(1ms);
  const auto refund = spawn("refund", [&] { deposit(20); });
  await(salary);
  await(refund);
  EXPECT_EQ(balance, 170);
}

}  // namespace fermata::properties::zoo
