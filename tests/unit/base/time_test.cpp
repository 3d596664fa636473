// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/time.hpp"

#include <gtest/gtest.h>

namespace fermata {
namespace {

using namespace std::chrono_literals;

TEST(Instant, AddsAndSubtractsSpans) {
  constexpr Instant start{1'000};
  EXPECT_EQ((start + 5us).nanoseconds, 6'000);
  EXPECT_EQ((start + 5us) - start, 5us);
  EXPECT_EQ(start + 5us - 5us, start);
  EXPECT_LT(start, start + 1ns);
}

TEST(Instant, SaturatesInsteadOfOverflowing) {
  EXPECT_EQ(Instant{1} + Duration::max(), Instant::never());
  EXPECT_EQ(Instant::never() + 1ns, Instant::never());
  EXPECT_EQ(Instant::never() - Duration::min(), Instant::never());
  EXPECT_EQ(Instant{-2} - Duration::max(), Instant{0});
  EXPECT_EQ(Instant{std::numeric_limits<std::int64_t>::min()} + -1ns, Instant{0});
}

}  // namespace
}  // namespace fermata
