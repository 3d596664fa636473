// SPDX-License-Identifier: Apache-2.0
#include <fermata/sim_property.hpp>

SIM_PROPERTY(Consumer, GetsArguments, (int number)) { EXPECT_EQ(number, number); }

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
