// SPDX-License-Identifier: Apache-2.0

// wait(): timeout, token, and what happens with events that have ended.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class WaitTest : public RuntimeFixture {
 protected:
  int answer = 42;
};

MAIN_TEST_F(WaitTest, ReturnsTheResultOfTheFire) {
  FERMATA_CHECKS("CORE-WK-09");
  const auto event = make_event<PlainEvent>(runtime);
  const auto child = spawn([&] {
    EXPECT_EQ(wait(*event), &answer);
    EXPECT_EQ(current_coroutine().waker().status, backend::WakerStatus::None);
    EXPECT_EQ(current_coroutine().waker().result, nullptr);
    EXPECT_TRUE(current_coroutine().waker().empty());
  });
  suspend();
  EXPECT_TRUE(event->result_used());
  event->notify({&answer, nullptr});
  await(child);
}

MAIN_TEST_F(WaitTest, AnswersAtOnceWhenTheEventHasEndedWithAnOutcome) {
  FERMATA_CHECKS("CORE-EV-13", "CORE-SC-07", "EVT-10");
  const auto event = make_event<PlainEvent>(runtime);
  event->complete({&answer, nullptr});
  const Metrics before = runtime.metrics();
  EXPECT_EQ(wait(*event), &answer);
  EXPECT_EQ(wait(*event, {0ns, nullptr}), &answer) << "what is there needs no time";
  EXPECT_EQ(runtime.metrics().switches, before.switches);
  EXPECT_EQ(runtime.metrics().ticks, before.ticks);
}

MAIN_TEST_F(WaitTest, WarnsAndFailsWhenTheEventHasEndedWithoutOne) {
  FERMATA_CHECKS("CORE-EV-13", "EVT-10");
  const auto event = make_event<PlainEvent>(runtime);
  event->close();
  EXPECT_EQ(thrown_by([&] { wait(*event); }),
            "fermata::UsageError: wait: the event has ended without an outcome: expected one that "
            "can still fire");
  EXPECT_EQ(fixture.log, event->info() + " is waited for after its end\n");
}

MAIN_TEST_F(WaitTest, ThrowsATimeoutWhenItsTimeHasPassed) {
  FERMATA_CHECKS("CORE-CN-07");
  const auto event = make_event<BackendEvent>(runtime);
  const Instant start = now();
  EXPECT_EQ(thrown_by([&] {
              wait(*event, {25ms, nullptr});
            }),
            "fermata::Timeout: Timeout occurred after 25 milliseconds");
  EXPECT_EQ(now() - start, 25ms);
  EXPECT_EQ(event->loop_ref_count(), 0u);
  EXPECT_EQ(runtime.timers().size(), 0u);
  EXPECT_EQ(runtime.active_event_count(), 0u);
}

MAIN_TEST_F(WaitTest, NeverParksWithATimeoutOfZero) {
  const auto event = make_event<PlainEvent>(runtime);
  const Metrics before = runtime.metrics();
  EXPECT_EQ(thrown_by([&] {
              wait(*event, {0ns, nullptr});
            }),
            "fermata::Timeout: Timeout occurred after 0 milliseconds");
  EXPECT_EQ(runtime.metrics().ticks, before.ticks);
  EXPECT_EQ(thrown_by([&] {
              wait(*event, {-1ns, nullptr});
            }),
            "fermata::UsageError: a span of -1 ns: expected zero or more");
  EXPECT_EQ(event->callbacks().size(), 0u);
  EXPECT_EQ(event->ref_count(), 1u);
}

MAIN_TEST_F(WaitTest, ForgetsTheTimerOfAWaitThatWasAnswered) {
  const auto event = make_event<PlainEvent>(runtime);
  const auto child = spawn([&] { wait(*event, {1h, nullptr}); });
  suspend();
  EXPECT_EQ(runtime.timers().size(), 1u);
  event->notify({});
  await(child);
  EXPECT_EQ(runtime.timers().size(), 0u);
}

MAIN_TEST_F(WaitTest, EndsWithTheTokenAndLeavesTheEventAlone) {
  FERMATA_CHECKS("CORE-CN-03", "CORE-CN-04");
  const auto event = make_event<BackendEvent>(runtime);
  const auto token = make_event<PlainEvent>(runtime);
  std::string with_token;
  const auto impatient = spawn([&] {
    with_token = thrown_by([&] { wait(*event, {std::nullopt, token.get()}); });
  });
  const auto patient = spawn([&] { EXPECT_EQ(wait(*event), &answer); });
  suspend();
  token->complete({nullptr, std::make_exception_ptr(Error("enough"))});
  await(impatient);
  EXPECT_EQ(with_token,
            "fermata::OperationCancelled: Operation has been cancelled\n"
            "  previous: fermata::Error: enough");
  EXPECT_FALSE(impatient->is_cancelled());
  EXPECT_EQ(event->loop_ref_count(), 1u) << "the other waiter is not disturbed";
  event->notify({&answer, nullptr});
  await(patient);
}

MAIN_TEST_F(WaitTest, LooksAtATokenThatHasFiredUnlessTheEventHasAnAnswer) {
  FERMATA_CHECKS("EVT-06", "CORE-CN-04");
  const auto event = make_event<BackendEvent>(runtime);
  const auto finished = make_event<PlainEvent>(runtime);
  finished->complete({&answer, nullptr});
  const auto token = make_event<PlainEvent>(runtime);
  token->complete({});
  EXPECT_EQ(thrown_by([&] {
              wait(*event, {std::nullopt, token.get()});
            }),
            "fermata::OperationCancelled: Operation has been cancelled");
  EXPECT_EQ(event->armed, 0);
  EXPECT_EQ(wait(*finished, {std::nullopt, token.get()}), &answer);
}

MAIN_TEST_F(WaitTest, TakesTheEventItselfAsToken) {
  const auto event = make_event<PlainEvent>(runtime);
  const auto child = spawn([&] { EXPECT_EQ(wait(*event, {std::nullopt, event.get()}), &answer); });
  suspend();
  event->notify({&answer, nullptr});
  await(child);
}

TEST_F(WaitTest, DoesNotCountATokensErrorAsUnhandled) {
  FERMATA_CHECKS("EVT-07");
  fixture.run([this] {
    const auto event = make_event<PlainEvent>(runtime);
    {
      const auto token = spawn([] { throw Error("the token failed"); });
      EXPECT_THROW(wait(*event, {std::nullopt, &*token}), OperationCancelled);
      EXPECT_THROW(wait(*event, {std::nullopt, &*token}), OperationCancelled) << "fired before";
    }
    suspend();
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

TEST_F(WaitTest, OfAHandleWithoutRequestsIsADeadlock) {
  FERMATA_CHECKS("CORE-SC-10", "IO-15");
  EXPECT_THROW(fixture.run([this] {
    const auto idle = make_event<BackendEvent>(runtime, backend::EventKind::Io);
    wait(*idle);
  }),
               DeadlockError);
}

TEST_F(WaitTest, IsForCoroutinesOnly) {
  FERMATA_CHECKS("CORE-SC-19");
  const auto event = make_event<PlainEvent>(runtime);
  EXPECT_EQ(thrown_by([&] { wait(*event); }),
            "fermata::UsageError: no runtime is running on this thread: expected a call inside "
            "Runtime::run");
  EXPECT_EQ(event->ref_count(), 1u);
}

}  // namespace
}  // namespace fermata::test
