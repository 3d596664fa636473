// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/wait_queue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/switching.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// The least that has a line: turns are granted by hand; a forfeited one is handed on.
class Counter {
 public:
  explicit Counter(Runtime& runtime) : event_(Ref<PlainEvent>::adopt(*new PlainEvent(runtime))) {}

  void wait_turn(const WaitOptions& options = {}) {
    detail::Waiter me(line);
    try {
      me.park(*event_, options, SourcePlace::current());
    } catch (...) {
      if (me.leave()) line.grant();
      throw;
    }
    served.push_back(std::string(current_coroutine().name()));
  }
  Coroutine<> spawn_waiter(const char* name) {
    return spawn(std::string(name), [this] { wait_turn(); });
  }

  detail::WaitQueue line;
  std::vector<std::string> served;

 private:
  Ref<PlainEvent> event_;
};

class WaitQueueTest : public RuntimeFixture {};

MAIN_TEST_F(WaitQueueTest, GrantsInTheOrderOfArrival) {
  Counter counter(fixture.runtime);
  const auto a = counter.spawn_waiter("a");
  const auto b = counter.spawn_waiter("b");
  suspend();
  EXPECT_EQ(counter.line.waiting(), 2u);
  EXPECT_TRUE(counter.line.grant());
  EXPECT_EQ(counter.line.waiting(), 1u);
  EXPECT_EQ(counter.line.granted(), 1u) << "it has not run yet";
  EXPECT_TRUE(counter.line.grant());
  EXPECT_FALSE(counter.line.grant()) << "nobody is left";
  await(a);
  await(b);
  EXPECT_EQ(counter.served, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(counter.line.empty());
}

MAIN_TEST_F(WaitQueueTest, HandsOnWhatACancelledWaiterWasGranted) {
  Counter counter(fixture.runtime);
  const auto a = counter.spawn_waiter("a");
  const auto b = counter.spawn_waiter("b");
  suspend();
  counter.line.grant();
  a.cancel();
  await(b);
  EXPECT_EQ(counter.served, (std::vector<std::string>{"b"}));
  EXPECT_THROW(await(a), Cancellation);
}

MAIN_TEST_F(WaitQueueTest, PassesOverWhoIsOnItsWayBackAlready) {
  Counter counter(fixture.runtime);
  const auto a = counter.spawn_waiter("a");
  const auto b = counter.spawn_waiter("b");
  suspend();
  a.cancel();
  EXPECT_TRUE(counter.line.grant());
  await(b);
  EXPECT_THROW(await(a), Cancellation);
  EXPECT_EQ(counter.served, (std::vector<std::string>{"b"}));
}

MAIN_TEST_F(WaitQueueTest, AnEndedWaitLeavesTheLine) {
  Counter counter(fixture.runtime);
  EXPECT_THROW(counter.wait_turn({.timeout = 0ms}), Timeout);
  EXPECT_THROW(counter.wait_turn({.timeout = 5ms}), Timeout);
  const auto token = spawn([] {});
  await(token);
  EXPECT_THROW(counter.wait_turn({.token = &*token}), OperationCancelled);
  EXPECT_TRUE(counter.line.empty());
}

TEST_F(WaitQueueTest, FailsEverybodyOrOnlyWhoHasNoPromise) {
  const auto error = std::make_exception_ptr(Error("closed"));
  for (const bool granted_too : {false, true}) {
    fixture.run([&] {
      Counter counter(fixture.runtime);
      const auto a = counter.spawn_waiter("a");
      const auto b = counter.spawn_waiter("b");
      suspend();
      counter.line.grant();
      counter.line.fail_all(error, granted_too);
      EXPECT_THROW(await(b), Error);
      if (granted_too) {
        EXPECT_THROW(await(a), Error);
      } else {
        await(a);
      }
      EXPECT_TRUE(counter.line.empty());
    });
  }
}

}  // namespace
}  // namespace fermata::test
