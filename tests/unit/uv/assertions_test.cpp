// SPDX-License-Identifier: Apache-2.0

// Assertions in production, on libuv.

#include <gtest/gtest.h>

#include <fermata/runtime.hpp>

#include "fermata/uv/reactor.hpp"
#include "tests/support/error_of.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;

TEST(UvAssertions, AreChecksThatFailACoroutine) {
  Runtime runtime(uv::make_reactor());
  const std::string what = test::error_of([&] {
    runtime.run([] {
      auto seller = spawn("seller", [] {
        delay(1ms);
        const int left = -1;
        FERMATA_ALWAYS_GE(left, 0, "no more is sold than there is", "of", "apples");
      });
      await(seller);
    });
  });
  EXPECT_EQ(what.substr(0, what.rfind(" at ")),
            "does not hold: no more is sold than there is (left >= 0; left = -1, right = 0, "
            "of = apples)");
}

TEST(UvAssertions, OthersAskForNothing) {
  Runtime runtime(uv::make_reactor());
  EXPECT_EQ(runtime.run([] {
    int evaluated = 0;
    FERMATA_SOMETIMES(++evaluated > 0, "not looked at");
    FERMATA_REACHABLE("not counted");
    FERMATA_EVENTUALLY(1ms, ++evaluated < 0, "not watched");
    delay(2ms);
    return evaluated;
  }),
            0);
}

}  // namespace
}  // namespace fermata
