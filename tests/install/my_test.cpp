// SPDX-License-Identifier: Apache-2.0
#include <fermata/sim.hpp>

SIM_TEST(Consumer, DelaysInVirtualTime) {
  const auto before = fermata::now();
  fermata::delay(std::chrono::hours(1));
  EXPECT_GE(fermata::now() - before, std::chrono::hours(1));
}
