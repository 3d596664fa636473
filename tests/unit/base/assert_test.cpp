// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/assert.hpp"

#include <gtest/gtest.h>

#include "fermata/base/error.hpp"

namespace fermata {
namespace {

TEST(Assert, RefusesTheCallersMistake) {
  EXPECT_NO_THROW(FERMATA_REQUIRE(1 + 1 == 2, "arithmetic"));
  try {
    FERMATA_REQUIRE(1 + 1 == 3, "expected three");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "expected three");
  }
}

TEST(AssertDeathTest, AbortsOnOurOwnMistake) {
  FERMATA_ASSERT(1 + 1 == 2);
  EXPECT_DEATH(FERMATA_ASSERT(1 + 1 == 3),
               "fermata: internal error: assertion '1 \\+ 1 == 3' failed at .*assert_test.cpp");
}

}  // namespace
}  // namespace fermata
