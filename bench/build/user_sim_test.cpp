// SPDX-License-Identifier: Apache-2.0

// A small simulated test, as a user of the library writes it: what does it cost to compile?

#include <fermata/sim.hpp>

#include <chrono>

SIM_TEST(User, AddsUp) {
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    fermata::spawn("adder", [&sum, i] {
      fermata::delay(std::chrono::milliseconds(i));
      sum += i + 1;
    });
  }
  fermata::delay(std::chrono::seconds(1));
  EXPECT_EQ(sum, 3);
}
