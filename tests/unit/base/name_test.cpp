// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/name.hpp"

#include <gtest/gtest.h>

namespace fermata {
namespace {

TEST(Name, RefersToALiteral) {
  static constexpr char kText[] = "reader";
  const Name name(kText);
  EXPECT_EQ(name.view(), "reader");
  EXPECT_EQ(name.view().data(), kText);
}

TEST(Name, CopiesAnyOtherText) {
  std::string text = "session 12";
  const Name name(text);
  text[0] = 'X';
  EXPECT_EQ(name.view(), "session 12");
  EXPECT_EQ(std::string(name.c_str()), "session 12") << "null-terminated";
  EXPECT_EQ(Name(std::string_view("a view of this").substr(2, 4)).view(), "view");
}

TEST(Name, IsEmptyByDefaultAndAfterAMove) {
  EXPECT_TRUE(Name().empty());
  Name first(std::string("owned"));
  Name second(std::move(first));
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(second.view(), "owned");
  Name third("literal");
  third = std::move(second);
  EXPECT_EQ(third.view(), "owned");
}

}  // namespace
}  // namespace fermata
