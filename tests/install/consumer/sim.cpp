// SPDX-License-Identifier: Apache-2.0
#include <fermata/sim.hpp>

SIM_TEST(Consumer, AwaitsWhatItSpawned) {
  auto answer = fermata::spawn("answer", [] {
    fermata::delay(std::chrono::milliseconds(1));
    return 42;
  });
  EXPECT_EQ(fermata::await(answer), 42);
}

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
