// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/printable.hpp"

#include <gtest/gtest.h>

#include "tests/support/bytes.hpp"

namespace fermata::sim {
namespace {

using test::bytes_of;

TEST(Printable, ShowsADotForEachByteThatIsNoAsciiLetter) {
  EXPECT_EQ(printable(bytes_of("PUT a=1\r\n\x80"), 10, 40), "PUT a=1...");
}

TEST(Printable, ShowsTheBeginningAndTheEndOfALongText) {
  EXPECT_EQ(printable(bytes_of("abcdefghijklmnopqrstuvwxyz"), 26, 9), "abcdef...xyz");
}

TEST(Printable, SaysThatThereIsMoreThanWasKept) {
  EXPECT_EQ(printable(bytes_of("abc"), 100, 9), "abc...");
}

}  // namespace
}  // namespace fermata::sim
