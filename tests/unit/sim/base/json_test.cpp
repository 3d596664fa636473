// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fermata::sim {
namespace {

const std::string kReplacement = "\xef\xbf\xbd";

TEST(Json, KeepsItsMembersInOrderOnOneLine) {
  Json json = {{"text", "a \"b\"\n"}, {"number", 7}};
  json["above"] = {{"x", true}};
  EXPECT_EQ(json_text(json), R"({"text":"a \"b\"\n","number":7,"above":{"x":true}})");
}

TEST(Json, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(json_text(Json("a\xff")), "\"a" + kReplacement + "\"");
}

TEST(AsUtf8, LeavesUtf8Alone) {
  const std::string text = "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xb5 \x01\t\"";
  EXPECT_EQ(as_utf8(text), text);
}

TEST(AsUtf8, ReplacesWhatIsNone) {
  for (const char* text : {"\xff", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80"}) {
    const std::string replaced = as_utf8(std::string("a") + text + "b");
    EXPECT_EQ(replaced.find("a" + kReplacement), 0u) << replaced;
    EXPECT_TRUE(replaced.ends_with('b')) << replaced;
    EXPECT_EQ(as_utf8(replaced), replaced);
  }
}

}  // namespace
}  // namespace fermata::sim
