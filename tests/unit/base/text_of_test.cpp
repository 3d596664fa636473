// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/text_of.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <clocale>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace fermata::detail {
namespace {

using namespace std::chrono_literals;

enum class Colour : std::uint8_t { Red, Green };

struct Point {
  int x = 0;
};
std::string_view to_string(const Point& point) { return point.x == 0 ? "origin" : "elsewhere"; }

TEST(TextOf, ShowsWhatAMessageMayHold) {
  EXPECT_EQ(text_of("plain"), "plain");
  EXPECT_EQ(text_of(std::string_view("view")), "view");
  EXPECT_EQ(text_of(true), "true");
  EXPECT_EQ(text_of('x'), "'x'");
  EXPECT_EQ(text_of(Colour::Green), "1");
  EXPECT_EQ(text_of(std::uint8_t{200}), "200");
  EXPECT_EQ(text_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text_of(2ms), "2000000 ns");
  EXPECT_EQ(text_of(Instant{7}), "7 ns");
  EXPECT_EQ(text_of(Point{}), "origin");
}

TEST(TextOf, ShowsNumbersInAsFewDigitsAsTheyNeed) {
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(0.1F), "0.1");
  EXPECT_EQ(text_of(-2.0), "-2");
  EXPECT_EQ(text_of(1e300), "1e+300");
  EXPECT_EQ(text_of(0.1 + 0.2), "0.30000000000000004");
}

TEST(TextOf, HasWordsForEveryErrno) {
  EXPECT_EQ(errno_text(ECONNREFUSED), "Connection refused");
  EXPECT_EQ(errno_text(4711), "Unknown error 4711");
}

TEST(TextOf, DoesNotDependOnTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* each : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8"}) {
    if (std::setlocale(LC_ALL, each) != nullptr) break;
  }
  EXPECT_EQ(text_of(1234.5), "1234.5");
  EXPECT_EQ(errno_text(EPIPE), "Broken pipe");
  std::setlocale(LC_ALL, before.c_str());
}

}  // namespace
}  // namespace fermata::detail
