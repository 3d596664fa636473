// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/printable.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/support/bytes.hpp"

namespace fermata::sim {
namespace {

using test::bytes_of;

TEST(Printable, ShowsADotForWhatIsNoLetter) {
  EXPECT_EQ(printable(bytes_of(std::string_view("a\0\n\x7f~ z", 7)), 7, 10), "a...~ z");
}

TEST(Printable, SaysWhereItWasCut) {
  EXPECT_EQ(printable(bytes_of("abcdef"), 6, 6), "abcdef");
  EXPECT_EQ(printable(bytes_of("abcdef"), 6, 3), "abc...");
  EXPECT_EQ(printable(bytes_of("abc"), 6, 10), "abc...") << "the rest was not kept";
}

}  // namespace
}  // namespace fermata::sim
