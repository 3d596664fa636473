// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/database/arms.hpp"

/// psqlODBC keeps what it knew of a command that could not be prepared. Asked by the sanitizer.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() { return "leak:psqlodbcw.so\n"; }

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  for (const std::string& line : fermata::database_test::left_out()) {
    fmt::print("left out: {}\n", line);
  }
  return RUN_ALL_TESTS();
}
