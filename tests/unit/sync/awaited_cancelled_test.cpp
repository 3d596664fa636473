// SPDX-License-Identifier: Apache-2.0

// A waiter can tell "what I wait for was cancelled" from "I am cancelled".

#include <gtest/gtest.h>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/select.hpp"
#include "fermata/sync/timeout.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/steps.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class AwaitedCancelledTest : public RuntimeFixture {
 protected:
  static Coroutine<> spawn_sleeper(const std::string& name = "child") {
    return spawn(Name(name), [] { delay(1h); });
  }
  /// Who was cancelled, as code that waits would find out.
  template <class Wait>
  static std::string who_was_cancelled(Wait wait) {
    try {
      wait();
    } catch (const AwaitedCancelled& awaited) {
      return awaited.what();
    } catch (const Cancellation& own) {
      return std::string("me: ") + own.what();
    }
    return "nobody";
  }
  template <class Wait>
  static std::exception_ptr error_of_wait(Wait wait) {
    try {
      wait();
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }
};

MAIN_TEST_F(AwaitedCancelledTest, TellsTheChildFromTheWaiter) {
  for (const bool child_first : {true, false}) {
    const auto child = spawn_sleeper();
    const auto waiter = spawn("waiter", [&] { return who_was_cancelled([&] { await(child); }); });
    suspend();
    child_first ? child.cancel() : waiter.cancel();
    EXPECT_EQ(await(waiter), child_first ? "coroutine 'child' was cancelled: Coroutine cancelled"
                                         : "me: Coroutine cancelled");
    child.cancel();
  }
}

MAIN_TEST_F(AwaitedCancelledTest, ComesFromOneThatHasEndedTooAndKeepsTheReason) {
  const auto child = spawn_sleeper();
  child.cancel(std::make_exception_ptr(Cancellation("not needed")));
  suspend();
  EXPECT_EQ(thrown_by([&] { await(child); }),
            "fermata::AwaitedCancelled: coroutine 'child' was cancelled: not needed\n"
            "  previous: fermata::Cancellation: not needed");
  EXPECT_EQ(describe(child->error()), "fermata::Cancellation: not needed");
}

MAIN_TEST_F(AwaitedCancelledTest, IsOneObjectForAllWaiters) {
  FERMATA_CHECKS("CORE-CO-09");
  const auto child = spawn_sleeper();
  std::exception_ptr early;
  const auto waiter = spawn([&] { early = error_of_wait([&] { await(child); }); });
  suspend();
  child.cancel();
  await(waiter);
  EXPECT_NE(early, nullptr);
  EXPECT_EQ(error_of_wait([&] { await(child); }), early);
  EXPECT_EQ(error_of_wait([&] { when_all(std::vector{child}); }), early);
  EXPECT_EQ(error_of_wait([&] { select(on_event(child.event(), [] {})); }), early);
}

MAIN_TEST_F(AwaitedCancelledTest, IsPassedOnByWhoHasWaited) {
  const auto grandchild = spawn_sleeper("grandchild");
  const auto child = spawn("child", [&] { await(grandchild); });
  suspend();
  grandchild.cancel();
  EXPECT_EQ(who_was_cancelled([&] { await(child); }),
            "coroutine 'grandchild' was cancelled: Coroutine cancelled");
}

MAIN_TEST_F(AwaitedCancelledTest, NeverIsTheReasonOfOnesOwn) {
  const auto first = spawn_sleeper("first");
  const auto second = spawn("second", [&] { return who_was_cancelled([] { delay(1h); }); });
  suspend();
  first.cancel();
  const std::exception_ptr of_first = error_of_wait([&] { await(first); });
  second.cancel(of_first);
  EXPECT_EQ(await(second), "me: coroutine 'first' was cancelled: Coroutine cancelled");
}

MAIN_TEST_F(AwaitedCancelledTest, ComesFromFuturesAndTimeoutsToo) {
  Promise<int> promise(PromiseOptions{.name = "answer"});
  const Future<int> future = promise.future();
  future.cancel();
  EXPECT_TRUE(who_was_cancelled([&] { await(future); }).starts_with("Future 'answer' created at "));
  const auto limit = make_timeout(1h);
  limit->cancel();
  EXPECT_TRUE(who_was_cancelled([&] { wait(*limit); }).starts_with("Timeout #"));
}

}  // namespace
}  // namespace fermata::test
