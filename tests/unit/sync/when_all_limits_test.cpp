// SPDX-License-Identifier: Apache-2.0

// What ends a wait for several from outside: its token, its timeout, a cancellation of the waiter.

#include <gtest/gtest.h>

#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/when_all_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

MAIN_TEST_F(WhenAllTest, LooksAtTheTokenFirst) {
  FERMATA_CHECKS("CORE-AW-07");
  const auto one = value_after(1ms, 1);
  const auto token = spawn([]() -> int { throw Error("stop"); });
  delay(5ms);
  EXPECT_EQ(thrown_by([&] { when_all_settled({one}, {.token = &token.event()}); }),
            "fermata::OperationCancelled: Operation has been cancelled\n"
            "  previous: fermata::Error: stop");
  EXPECT_EQ(await(one, {{}, &token.event()}), 1) << "await gives what is there";
  EXPECT_TRUE(token->exception_caught());
  EXPECT_EQ(runtime.active_event_count(), 0u);
}

MAIN_TEST_F(WhenAllTest, EndsWhenItsTokenFiresAndLeavesTheItems) {
  FERMATA_CHECKS("CORE-AW-05", "CORE-AW-07", "CORE-CN-03");
  const auto slow = value_after(20ms, 2);
  const auto token = value_after(10ms, 0);
  EXPECT_THROW(when_all_settled({slow}, {.token = &token.event()}), OperationCancelled);
  EXPECT_EQ(slow->callbacks().size(), 0u);
  EXPECT_EQ(await(slow), 2);
}

MAIN_TEST_F(WhenAllTest, EndsAtItsTimeout) {
  const auto slow = value_after(20ms, 2);
  const auto fast = value_after(0ms, 1);
  EXPECT_EQ(ticks_of([&] {
              EXPECT_THROW(when_all_settled({slow, fast}, {.timeout = 0ms}), Timeout);
            }),
            0u);
  EXPECT_THROW(when_all_settled({slow, fast}, {.timeout = 10ms}), Timeout);
  EXPECT_EQ(when_any({slow, fast}, {.timeout = 0ms}), 1);
  EXPECT_EQ(text_of(when_all_settled({slow, fast}, {.timeout = 1s}).values), "1=1 0=2");
}

TEST_F(WhenAllTest, LeavesNoSubscriberWhenTheWaiterIsCancelled) {
  FERMATA_CHECKS("CORE-AW-05", "CORE-AW-08");
  EXPECT_EQ(thrown_by([this] {
              fixture.run([this] {
                Timer timer(runtime, 1h);
                auto failed = failure_after(5ms, "nobody's");
                const auto never = make_event<PlainEvent>(runtime);
                const auto waiter = spawn([&] {
                  when_all_settled(std::vector<Event*>{&timer, &failed.event(), never.get()});
                });
                delay(10ms);
                EXPECT_EQ(runtime.active_event_count(), 1u);
                waiter.cancel();
                EXPECT_THROW(await(waiter), Cancellation);
                EXPECT_EQ(timer.callbacks().size() + never->callbacks().size(), 0u);
                EXPECT_EQ(runtime.active_event_count(), 0u);
                EXPECT_FALSE(failed->exception_caught()) << "it was never delivered";
                failed = {};
                EXPECT_THROW(suspend(), Cancellation);
              });
            }),
            "fermata::Error: nobody's");
}

TEST_F(WhenAllTest, LosesNoErrorWhenTheWaiterIsCancelledBeforeItRuns) {
  FERMATA_CHECKS("CORE-AW-08", "CORE-CO-10");
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto failed = failure_after(5ms, "not delivered");
                const auto waiter = spawn([&] { when_all({failed}); });
                suspend();
                const auto canceller =
                    subscribe(failed.event(), [&](Event&, const Outcome&) { waiter.cancel(); });
                EXPECT_THROW(await(waiter), Cancellation);
              });
            }),
            "fermata::Error: not delivered");
}

}  // namespace
}  // namespace fermata::test
