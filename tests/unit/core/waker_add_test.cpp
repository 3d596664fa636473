// SPDX-License-Identifier: Apache-2.0

// Adding to what a coroutine waits for: while it waits already, and what is refused.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/core/waker.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/waker_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class WakerAddTest : public WakerFixture {};

MAIN_TEST_F(WakerAddTest, StartsAtOnceWhatIsAddedWhileWaiting) {
  const auto first = make_event<BackendEvent>(runtime);
  const auto added = make_event<BackendEvent>(runtime);
  const auto waiter = spawn([&] {
    my_waker().resume_when(*first, backend::WakeRule::Resolve);
    EXPECT_EQ(suspend_registered(), &answer);
  });
  suspend();
  waiter->waker().resume_when(*added, backend::WakeRule::Resolve);
  EXPECT_EQ(added->loop_ref_count(), 1u);
  added->notify({&answer, nullptr});
  EXPECT_EQ(first->loop_ref_count(), 0u);
  await(waiter);
}

MAIN_TEST_F(WakerAddTest, IsAnsweredAtOnceByAFinishedEventAddedWhileWaiting) {
  const auto first = make_event<BackendEvent>(runtime);
  const auto finished = make_event<PlainEvent>(runtime);
  finished->complete({&answer, nullptr});
  const auto waiter = spawn([&] {
    my_waker().resume_when(*first, backend::WakeRule::Resolve);
    EXPECT_EQ(suspend_registered(), &answer);
  });
  suspend();
  waiter->waker().resume_when(*finished, backend::WakeRule::Resolve);
  EXPECT_EQ(waiter->waker().status, backend::WakerStatus::Queued);
  await(waiter);
}

MAIN_TEST_F(WakerAddTest, GoesOnWaitingWhenWhatIsAddedCannotBeStarted) {
  FERMATA_CHECKS("CORE-WK-15");
  const auto first = make_event<BackendEvent>(runtime);
  const auto broken = make_event<BackendEvent>(runtime);
  broken->on_arm = [] { throw Error("broken"); };
  const auto waiter = spawn([&] {
    my_waker().resume_when(*first, backend::WakeRule::Resolve);
    suspend_registered();
  });
  suspend();
  EXPECT_THROW(waiter->waker().resume_when(*broken, backend::WakeRule::Resolve), Error);
  EXPECT_EQ(broken->ref_count(), 1u);
  EXPECT_EQ(broken->callbacks().size(), 0u);
  EXPECT_EQ(waiter->waker().status, backend::WakerStatus::Waiting);
  EXPECT_EQ(waiter->awaiting(), (std::vector<std::string>{first->info()}));
  first->notify({});
  await(waiter);
}

MAIN_TEST_F(WakerAddTest, RefusesAnEventThatHasEnded) {
  const auto event = make_event<PlainEvent>(runtime);
  event->close();
  EXPECT_EQ(thrown_by([&] { my_waker().resume_when(*event, backend::WakeRule::Resolve); }),
            "fermata::UsageError: wait: the event has ended without an outcome: expected one that "
            "can still fire");
  EXPECT_EQ(event->ref_count(), 1u);
  expect_clear(my_waker());
}

MAIN_TEST_F(WakerAddTest, FailsAtTheSuspendWhenAnEventEndsBeforeItWithoutAnOutcome) {
  FERMATA_CHECKS("CORE-EV-13", "EVT-10");
  const auto event = make_event<PlainEvent>(runtime);
  my_waker().resume_when(*event, backend::WakeRule::Resolve);
  event->close();
  EXPECT_EQ(thrown_by([this] { suspend_registered(); }),
            "fermata::UsageError: wait: the event has ended without an outcome: expected one that "
            "can still fire");
  expect_clear(my_waker());
}

MAIN_TEST_F(WakerAddTest, LeavesTheDecisionToACustomHandler) {
  const auto event = make_event<PlainEvent>(runtime);
  int fires = 0;
  const auto waiter = spawn([&] {
    const auto handler = [](backend::Registration& registration, Event& source,
                            const Outcome& outcome) {
      int& count = *static_cast<int*>(registration.context);
      if (++count < 3) return;
      source.runtime().scheduler().wake(registration.coroutine(), &source, outcome.result, nullptr,
                                        backend::WakeCause::Event);
    };
    my_waker().resume_when(*event, backend::WakeRule::Custom, false, handler, &fires);
    EXPECT_EQ(suspend_registered(), &answer);
  });
  suspend();
  for (int i = 0; i < 5; ++i) event->notify({&answer, nullptr});
  EXPECT_EQ(fires, 3);
  await(waiter);
}

}  // namespace
}  // namespace fermata::test
