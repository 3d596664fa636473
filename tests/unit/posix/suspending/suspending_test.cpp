// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/suspending/suspending.hpp"

#include <gtest/gtest.h>

#include "fermata/core/runtime.hpp"
#include "fermata/uv/reactor.hpp"
#include "tests/support/error_of.hpp"

namespace fermata {
namespace {

// This program does not link fermata::posix.
TEST(SuspendingUnlinked, SaysWhatTheProgramMustLink) {
  Runtime runtime(uv::make_reactor());
  runtime.run([] {
    EXPECT_EQ(test::error_of([] { posix::suspending([] {}); }),
              "suspending: the program does not define the functions of the C library anew: "
              "expected it to be linked with fermata::posix");
  });
}

}  // namespace
}  // namespace fermata
