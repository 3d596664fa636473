// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/operation.hpp"

#include <gtest/gtest.h>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

TEST(Operation, TakesTheErrorOfATokenOnlyWhenItHasFired) {
  FERMATA_CHECKS("CORE-CO-10");
  TestRuntime fixture;
  EXPECT_EQ(thrown_by([&] {
              fixture.run([] {
                const auto token = spawn([] { throw Error("failed"); });
                detail::check_token({{}, &*token});
                suspend();
                EXPECT_FALSE(token->exception_caught());
              });
            }),
            "fermata::Error: failed");
  fixture.run([] {
    const auto token = spawn([] { throw Error("failed"); });
    suspend();
    EXPECT_EQ(thrown_by([&] {
                detail::check_token({{}, &*token});
              }),
              "fermata::OperationCancelled: Operation has been cancelled\n"
              "  previous: fermata::Error: failed");
    EXPECT_TRUE(token->exception_caught());
  });
}

}  // namespace
}  // namespace fermata::test
