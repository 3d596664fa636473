// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/amount.hpp"

#include <gtest/gtest.h>

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

TEST(Amount, OfTimeIsInTheUnitThatReadsBest) {
  EXPECT_EQ(amount(0ms), "0 ms");
  EXPECT_EQ(amount(7ns), "7 ns");
  EXPECT_EQ(amount(20us), "20 us");
  EXPECT_EQ(amount(1'500ns), "1.5 us");
  EXPECT_EQ(amount(400us), "0.4 ms");
  EXPECT_EQ(amount(12ms), "12 ms");
  EXPECT_EQ(amount(12'345us), "12.345 ms");
  EXPECT_EQ(amount(1'310'720us), "1.31 s");
  EXPECT_EQ(amount(131s), "131 s");
  EXPECT_EQ(amount(-2ms), "-2 ms");
}

TEST(Amount, OfAMomentHasASign) { EXPECT_EQ(moment(Instant{400'000}), "+0.4 ms"); }

TEST(Amount, OrdinalsEndAsTheyAreSpoken) {
  EXPECT_EQ(ordinal(1), "1st");
  EXPECT_EQ(ordinal(2), "2nd");
  EXPECT_EQ(ordinal(3), "3rd");
  EXPECT_EQ(ordinal(4), "4th");
  EXPECT_EQ(ordinal(11), "11th");
  EXPECT_EQ(ordinal(12), "12th");
  EXPECT_EQ(ordinal(21), "21st");
  EXPECT_EQ(ordinal(113), "113th");
}

TEST(Amount, OfBytesIsAPartOfTheWhole) {
  EXPECT_EQ(part_of_bytes(3, 10), "3 of 10 bytes");
  EXPECT_EQ(part_of_bytes(0, 1), "0 of 1 byte");
}

}  // namespace
}  // namespace fermata::sim
