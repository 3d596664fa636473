// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/source_place.hpp"

#include <gtest/gtest.h>

namespace fermata {
namespace {

SourcePlace caller(SourcePlace place = SourcePlace::current()) { return place; }

TEST(SourcePlace, IsWhereTheCallerStands) {
  const SourcePlace place = caller();
  EXPECT_EQ(place.line, __LINE__ - 1);
  EXPECT_NE(std::string(place.file).find("source_place_test.cpp"), std::string::npos);
  EXPECT_STREQ(place.function, "TestBody");
}

TEST(SourcePlace, HasATextWithAndWithoutFunction) {
  EXPECT_EQ((SourcePlace{"a.cpp", "run", 7}).text(), "a.cpp:7 (run)");
  EXPECT_EQ((SourcePlace{"a.cpp", "", 7}).text(), "a.cpp:7");
  EXPECT_EQ((SourcePlace{"liba.so", "run", 0}).text(), "liba.so (run)");
  EXPECT_EQ(SourcePlace().text(), "unknown");
}

}  // namespace
}  // namespace fermata
