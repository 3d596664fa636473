// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/database/arms.hpp"

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  for (const std::string& line : fermata::database_test::left_out()) {
    fmt::print("left out: {}\n", line);
  }
  return RUN_ALL_TESTS();
}
