// SPDX-License-Identifier: Apache-2.0

// The frames of a coroutine that waits.

#include <gtest/gtest.h>

#include <algorithm>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/steps.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// Notes where it goes on, waits inside, and returns a sum so that no call is a jump.
[[gnu::noinline]] int wait_inside(const void*& goes_on_at, int depth) {
  if (depth > 0) return wait_inside(goes_on_at, depth - 1) + 1;
  goes_on_at = __builtin_return_address(0);
  delay(1ms);
  return 0;
}

class CallStackTest : public RuntimeFixture {
 protected:
  static bool has(const std::vector<const void*>& stack, const void* address) {
    return std::find(stack.begin(), stack.end(), address) != stack.end();
  }
};

MAIN_TEST_F(CallStackTest, HasTheFramesOfOneThatWaits) {
  const void* goes_on_at = nullptr;
  const auto child = spawn("child", [&] { return wait_inside(goes_on_at, 5); });
  EXPECT_EQ(child->call_stack().size(), 0u) << "not started";
  suspend();
  const std::vector<const void*> stack = child->call_stack();
  EXPECT_TRUE(has(stack, goes_on_at));
  EXPECT_EQ(child->call_stack(), stack) << "a look changes nothing";
  EXPECT_EQ(await(child), 5);
  EXPECT_EQ(child->call_stack().size(), 0u) << "ended";
}

MAIN_TEST_F(CallStackTest, HasThoseOfTheCallerAndOfTheMainCoroutine) {
  CoroutineBase& me = current_coroutine();
  EXPECT_GT(me.call_stack().size(), 2u);
  await(spawn([&] { EXPECT_GT(me.call_stack().size(), 2u); }));
}

MAIN_TEST_F(CallStackTest, CanBeTakenInACallback) {
  const void* goes_on_at = nullptr;
  const auto child = spawn("child", [&] { return wait_inside(goes_on_at, 1); });
  const auto other = spawn("other", [] {});
  bool found = false;
  const Subscription watch = subscribe(
      other.event(), [&](Event&, const Outcome&) { found = has(child->call_stack(), goes_on_at); });
  await(other);
  EXPECT_TRUE(found);
  EXPECT_EQ(await(child), 1);
}

MAIN_TEST_F(CallStackTest, LeavesExceptionsAsTheyAre) {
  const auto child = spawn("child", [] {
    try {
      throw Error("kept");
    } catch (const Error&) {
      delay(1ms);
      return thrown_by([] { throw; });
    }
  });
  suspend();
  try {
    throw Error("mine");
  } catch (const Error&) {
    EXPECT_GT(child->call_stack().size(), 2u);
    EXPECT_EQ(thrown_by([] { throw; }), "fermata::Error: mine");
  }
  EXPECT_EQ(await(child), "fermata::Error: kept");
}

}  // namespace
}  // namespace fermata::test
