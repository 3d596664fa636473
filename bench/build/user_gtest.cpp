// SPDX-License-Identifier: Apache-2.0

// What a small file of tests costs without Fermata: the floor of user_sim_test.cpp.

#include <gtest/gtest.h>

TEST(User, AddsUp) {
  int sum = 0;
  for (int i = 0; i < 2; ++i) sum += i + 1;
  EXPECT_EQ(sum, 3);
}
