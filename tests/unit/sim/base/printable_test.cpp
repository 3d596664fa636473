// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/printable.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/support/bytes.hpp"

namespace fermata::sim {
namespace {

using test::bytes_of;

TEST(Printable, ShowsADotForEachByteThatIsNoAsciiLetter) {
  EXPECT_EQ(printable(bytes_of(std::string_view("a\0\n\x7f~ z", 7)), 7, 10), "a...~ z");
}

TEST(Printable, ShowsTheBeginningAndTheEndOfALongText) {
  EXPECT_EQ(printable(bytes_of("abcdefghijklmnopqrstuvwxyz"), 26, 9), "abcdef...xyz");
}

TEST(Printable, SaysThatThereIsMoreThanWasKept) {
  EXPECT_EQ(printable(bytes_of("abc"), 100, 9), "abc...");
}

}  // namespace
}  // namespace fermata::sim
