// SPDX-License-Identifier: Apache-2.0
#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

SIM_TEST(Consumer, AwaitsWhatItSpawned) {
  auto answer = fermata::spawn("answer", [] { return 42; });
  EXPECT_EQ(fermata::await(answer), 42);
}
