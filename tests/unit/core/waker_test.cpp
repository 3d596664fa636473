// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/waker.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/waker_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class WakerTest : public WakerFixture {};

MAIN_TEST_F(WakerTest, ReturnsQuicklyWhenTheEventFiredBeforeTheSuspend) {
  FERMATA_CHECKS("CORE-WK-08", "CORE-SC-07");
  const auto event = make_event<PlainEvent>(runtime);
  my_waker().resume_when(*event, backend::WakeRule::Resolve);
  event->notify({&answer, nullptr});
  EXPECT_EQ(my_waker().status, backend::WakerStatus::Result);
  EXPECT_TRUE(my_waker().empty());
  const Metrics before = runtime.metrics();
  EXPECT_EQ(suspend_registered(), &answer);
  EXPECT_EQ(runtime.metrics().switches, before.switches);
  EXPECT_EQ(runtime.metrics().ticks, before.ticks);
  EXPECT_EQ(runtime.metrics().polls, before.polls);
  EXPECT_EQ(runtime.metrics().microtasks, before.microtasks);
}

MAIN_TEST_F(WakerTest, AnswersTheNextWaitWhenTheEventFiredBeforeTheSuspend) {
  const auto event = make_event<PlainEvent>(runtime);
  const auto other = make_event<PlainEvent>(runtime);
  my_waker().resume_when(*event, backend::WakeRule::Resolve);
  event->notify({&answer, nullptr});
  EXPECT_EQ(wait(*other), &answer);
  EXPECT_EQ(my_waker().status, backend::WakerStatus::None);
  EXPECT_EQ(other->callbacks().size(), 0u);
  EXPECT_EQ(other->ref_count(), 1u);
}

// The third one has no slot of its own in the waker.
MAIN_TEST_F(WakerTest, LeavesAllThreeWhicheverAnswers) {
  for (std::size_t which = 0; which < 3; ++which) {
    std::vector<Ref<BackendEvent>> events;
    for (int i = 0; i < 3; ++i) events.push_back(make_event<BackendEvent>(runtime));
    const auto waiter = spawn([&] {
      for (const auto& event : events) my_waker().resume_when(*event, backend::WakeRule::Resolve);
      EXPECT_EQ(suspend_registered(), &answer);
    });
    suspend();
    events[which]->notify({&answer, nullptr});
    for (const auto& event : events) {
      EXPECT_EQ(event->callbacks().size(), 0u);
      EXPECT_EQ(event->loop_ref_count(), 0u);
      EXPECT_EQ(event->ref_count(), 1u);
    }
    await(waiter);
  }
}

MAIN_TEST_F(WakerTest, TakesTheFirstOfTwoThatAreReadyAtTheStart) {
  FERMATA_CHECKS("CORE-WK-05", "CORE-WK-08");
  const auto first = make_event<PlainEvent>(runtime);
  const auto second = make_event<PlainEvent>(runtime);
  const auto third = make_event<BackendEvent>(runtime);
  first->complete({&answer, nullptr});
  second->complete({});
  backend::Waker& waker = my_waker();
  waker.resume_when(*first, backend::WakeRule::Resolve);
  waker.resume_when(*second, backend::WakeRule::Resolve);
  waker.resume_when(*third, backend::WakeRule::Resolve);
  EXPECT_EQ(suspend_registered(), &answer);
  EXPECT_EQ(third->armed, 0) << "what comes after the answer is not started";
  EXPECT_EQ(third->disarmed, 0);
  EXPECT_EQ(third->callbacks().size(), 0u);
}

MAIN_TEST_F(WakerTest, TakesAnAnswerThatComesWhileTheEventIsArmed) {
  FERMATA_CHECKS("CORE-WK-05");
  const auto first = make_event<BackendEvent>(runtime);
  const auto second = make_event<BackendEvent>(runtime);
  first->on_arm = [&] { first->notify({&answer, nullptr}); };
  my_waker().resume_when(*first, backend::WakeRule::Resolve);
  my_waker().resume_when(*second, backend::WakeRule::Resolve);
  EXPECT_EQ(suspend_registered(), &answer);
  EXPECT_EQ(first->loop_ref_count(), 0u);
  EXPECT_EQ(second->armed, 0);
  EXPECT_EQ(runtime.active_event_count(), 0u);
}

MAIN_TEST_F(WakerTest, StartsNothingBeforeTheSuspend) {
  FERMATA_CHECKS("CORE-WK-04");
  Timer timer(runtime, 1ms);
  my_waker().resume_when(timer, backend::WakeRule::Resolve);
  EXPECT_EQ(timer.loop_ref_count(), 0u);
  EXPECT_EQ(runtime.active_event_count(), 0u);
  EXPECT_EQ(suspend_registered(), nullptr);
  EXPECT_TRUE(timer.is_closed());
}

MAIN_TEST_F(WakerTest, KeepsTheFirstAnswerOfTwoInOneTick) {
  FERMATA_CHECKS("CORE-WK-03", "CORE-WK-07", "CORE-WK-11", "EVT-05", "EVT-08");
  const auto first = make_event<BackendEvent>(runtime);
  const auto second = make_event<BackendEvent>(runtime);
  int other = 0;
  Event* triggered = nullptr;
  const auto waiter = spawn([&] {
    my_waker().resume_when(*first, backend::WakeRule::Resolve);
    my_waker().resume_when(*second, backend::WakeRule::Resolve);
    runtime.scheduler().suspend(SourcePlace::current());
    triggered = my_waker().triggered;
    EXPECT_EQ(my_waker().result, &answer);
    my_waker().clear();
  });
  suspend();
  EXPECT_EQ(first->loop_ref_count() + second->loop_ref_count(), 2u);
  first->notify({&answer, nullptr});
  EXPECT_EQ(waiter->waker().status, backend::WakerStatus::Queued);
  EXPECT_EQ(first->callbacks().size() + second->callbacks().size(), 0u);
  EXPECT_EQ(first->loop_ref_count() + second->loop_ref_count(), 0u);
  EXPECT_EQ(first->disarmed, 1);
  EXPECT_EQ(second->disarmed, 1);
  second->notify({&other, nullptr});
  runtime.scheduler().wake(*waiter, second.get(), &other, nullptr, backend::WakeCause::Event);
  EXPECT_EQ(runtime.scheduler().ready().size(), 1u);
  await(waiter);
  EXPECT_EQ(triggered, first.get());
}

MAIN_TEST_F(WakerTest, KeepsTheFirstAnswerWhenWhatItStopsFires) {
  FERMATA_CHECKS("CORE-WK-03", "CORE-WK-07");
  const auto stopped = make_event<BackendEvent>(runtime);
  const auto answering = make_event<BackendEvent>(runtime);
  const auto late = make_event<BackendEvent>(runtime);
  int other = 0;
  stopped->on_disarm = [&] { late->notify({&other, nullptr}); };
  answering->on_disarm = [&] { answering->notify({&other, nullptr}); };
  const auto waiter = spawn([&] {
    for (BackendEvent* event : {stopped.get(), answering.get(), late.get()}) {
      my_waker().resume_when(*event, backend::WakeRule::Resolve);
    }
    EXPECT_EQ(suspend_registered(), &answer);
  });
  suspend();
  answering->notify({&answer, nullptr});
  EXPECT_EQ(runtime.scheduler().ready().size(), 1u);
  await(waiter);
}

MAIN_TEST_F(WakerTest, IsCancelledOnceWhenWhatItStopsFires) {
  FERMATA_CHECKS("CORE-CO-04");
  const auto stopped = make_event<BackendEvent>(runtime);
  const auto late = make_event<BackendEvent>(runtime);
  stopped->on_disarm = [&] { late->notify({&answer, nullptr}); };
  const auto waiter = spawn([&] {
    my_waker().resume_when(*stopped, backend::WakeRule::Resolve);
    my_waker().resume_when(*late, backend::WakeRule::Resolve);
    suspend_registered();
  });
  suspend();
  waiter->cancel();
  EXPECT_EQ(runtime.scheduler().ready().size(), 1u);
  suspend();
  EXPECT_TRUE(waiter->is_cancelled());
}

MAIN_TEST_F(WakerTest, DoesNothingWithoutRegistrations) {
  const Metrics before = runtime.metrics();
  runtime.scheduler().suspend(SourcePlace::current());
  EXPECT_EQ(runtime.metrics().ticks, before.ticks);
  expect_clear(my_waker());
}

MAIN_TEST_F(WakerTest, RefusesToWakeWhoNeverSuspended) {
  FERMATA_CHECKS("CORE-WK-10");
  const auto wake = [this](CoroutineBase& coroutine) {
    return thrown_by([&] {
      runtime.scheduler().wake(coroutine, nullptr, nullptr, nullptr, backend::WakeCause::Event);
    });
  };
  const auto refusal = "fermata::UsageError: the coroutine has not been suspended";
  EXPECT_EQ(wake(current_coroutine()), refusal);
  expect_clear(my_waker());
  const auto finished = spawn([] {});
  await(finished);
  EXPECT_EQ(wake(*finished), refusal);
  expect_clear(finished->waker());
  EXPECT_TRUE(runtime.scheduler().ready().empty());
}

MAIN_TEST_F(WakerTest, LeavesNoTraceWhenTheSecondOfThreeCannotBeStarted) {
  FERMATA_CHECKS("CORE-WK-15", "CORE-WK-09", "CORE-EV-01");
  std::vector<Ref<BackendEvent>> events;
  for (int i = 0; i < 3; ++i) events.push_back(make_event<BackendEvent>(runtime));
  events[1]->on_arm = [] { throw InputOutputError("no backend"); };
  for (const auto& event : events) my_waker().resume_when(*event, backend::WakeRule::Resolve);
  EXPECT_EQ(thrown_by([this] { suspend_registered(); }), "fermata::InputOutputError: no backend");
  for (const auto& event : events) {
    EXPECT_EQ(event->loop_ref_count(), 0u);
    EXPECT_EQ(event->callbacks().size(), 0u);
    EXPECT_EQ(event->ref_count(), 1u);
    EXPECT_EQ(event->armed, event->disarmed);
  }
  EXPECT_EQ(events[0]->armed, 1);
  EXPECT_EQ(events[2]->armed, 0);
  EXPECT_EQ(runtime.active_event_count(), 0u);
  expect_clear(my_waker());
  suspend();
}

MAIN_TEST_F(WakerTest, TakesTheSameEventTwiceAndGivesBackAllReferences) {
  FERMATA_CHECKS("CORE-EV-02", "CORE-WK-03");
  const auto event = make_event<BackendEvent>(runtime);
  const auto waiter = spawn([&] {
    my_waker().resume_when(*event, backend::WakeRule::Resolve);
    my_waker().resume_when(*Ref<BackendEvent>::share(*event).detach(), backend::WakeRule::Resolve,
                           /*transfer=*/true);
    EXPECT_EQ(event->ref_count(), 3u);
    suspend_registered();
  });
  suspend();
  EXPECT_EQ(event->loop_ref_count(), 2u);
  EXPECT_EQ(event->armed, 1);
  event->notify({});
  EXPECT_EQ(event->loop_ref_count(), 0u);
  EXPECT_EQ(event->ref_count(), 1u);
  await(waiter);
}

MAIN_TEST_F(WakerTest, MarksTheErrorItDeliversAsTaken) {
  FERMATA_CHECKS("CORE-WK-12", "CORE-WK-09");
  const auto event = make_event<PlainEvent>(runtime);
  const auto waiter = spawn([&] {
    my_waker().resume_when(*event, backend::WakeRule::Resolve);
    EXPECT_EQ(thrown_by([this] { suspend_registered(); }), "fermata::Error: failed");
    expect_clear(my_waker());
  });
  suspend();
  EXPECT_TRUE(event->notify({nullptr, std::make_exception_ptr(Error("failed"))}));
  EXPECT_TRUE(event->exception_caught());
  await(waiter);
}

}  // namespace
}  // namespace fermata::test
