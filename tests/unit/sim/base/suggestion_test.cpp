// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/suggestion.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fermata::sim {
namespace {

const std::vector<std::string_view> kStrategies = {"portfolio", "random", "urw", "pos", "dfs"};

TEST(Suggestion, IsTheNearestName) {
  EXPECT_EQ(suggestion("randon", kStrategies), "; did you mean random?");
  EXPECT_EQ(suggestion("rnadom", kStrategies), "; did you mean random?");
  EXPECT_EQ(suggestion("protfolo", kStrategies), "; did you mean portfolio?");
  EXPECT_EQ(suggestion("RANDOM", kStrategies), "; did you mean random?");
  EXPECT_EQ(suggestion("dsf", kStrategies), "; did you mean dfs?");
}

TEST(Suggestion, IsWhatANameBeginsWithWhenNothingIsNearer) {
  EXPECT_EQ(suggestion("port", kStrategies), "; did you mean portfolio?");
  EXPECT_EQ(nearest("for", std::vector<std::string_view>{"format-text", "format"}), "format");
  EXPECT_EQ(suggestion("po", kStrategies), "") << "too short to mean anything";
}

TEST(Suggestion, IsMissingWhenNothingIsNear) {
  EXPECT_EQ(suggestion("luck", kStrategies), "");
  EXPECT_EQ(suggestion("", kStrategies), "");
  EXPECT_EQ(suggestion("lottery", kStrategies), "");
  EXPECT_EQ(suggestion("abc", kStrategies), "") << "three errors in three letters";
  EXPECT_EQ(suggestion("random", {}), "");
}

TEST(Suggestion, IsTheFirstOfEquallyNearNames) {
  EXPECT_EQ(nearest("shrinks", std::vector<std::string_view>{"shrinka", "shrinkb"}), "shrinka");
}

}  // namespace
}  // namespace fermata::sim
