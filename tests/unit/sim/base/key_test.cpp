// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/key.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace fermata::sim {
namespace {

constexpr std::string_view kText = "the name of a thing, and bytes above 127: \xc3\xa4\xff";

/// The keys of the first bytes of kText, from none to all, as the compiler has them.
constexpr auto kKeys = [] {
  std::array<std::uint64_t, kText.size() + 1> keys{};
  for (std::size_t size = 0; size < keys.size(); ++size) keys[size] = key_of(kText.substr(0, size));
  return keys;
}();

TEST(Key, OfATextIsTheSameWhenItIsCompiledAndWhenItRuns) {
  for (std::size_t size = 0; size < kKeys.size(); ++size) {
    const std::string text(kText.substr(0, size));
    EXPECT_EQ(key_of(text), kKeys[size]) << text;
  }
}

TEST(Key, OfATextIsTheOneThatTapesHave) {
  EXPECT_EQ(key_of(std::string("main")), 0xfb89e67616f9ec83);
  EXPECT_EQ(key_of(std::string("twelve bytes")), 0xd8d4a3d5899ef804);
}

}  // namespace
}  // namespace fermata::sim
