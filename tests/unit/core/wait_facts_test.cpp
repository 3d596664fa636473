// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/wait_facts.hpp"

#include <gtest/gtest.h>

#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

class WaitPersonTest : public RuntimeFixture {};

TEST_F(WaitPersonTest, IsNobodyOutsideOfAllRuntimes) {
  EXPECT_EQ(backend::WaitPerson::present().runtime, nullptr);
}

MAIN_TEST_F(WaitPersonTest, IsNobodyWhereNoLogIsKept) {
  const backend::WaitPerson person = backend::WaitPerson::present();
  EXPECT_EQ(person.runtime, nullptr);
  EXPECT_EQ(person.label, "") << "a program in production pays nothing for it";
}

}  // namespace
}  // namespace fermata::test
