// SPDX-License-Identifier: Apache-2.0

// Triggers and work on other threads, as far as one thread can see them.

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/checks.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;

template <class Arm>
class Triggers : public ::testing::Test {};
TYPED_TEST_SUITE(Triggers, Arms);

MAIN_TYPED_TEST(Triggers, FiresCoalesceAndEachIsFollowedByANotification) {
  FERMATA_CHECKS("THR-03");
  const auto trigger = current_runtime().reactor().triggers().make();
  int told = 0;
  const Subscription subscription = subscribe(*trigger, [&](Event&, const Outcome&) { ++told; });
  trigger->start();
  for (int i = 0; i < 10; ++i) trigger->fire();
  EXPECT_EQ(told, 0);
  delay(5ms);
  EXPECT_EQ(told, 1);
  trigger->fire();
  delay(5ms);
  EXPECT_EQ(told, 2);
  trigger->fire();
  trigger->close();
  trigger->fire();
  delay(5ms);
  EXPECT_EQ(told, 2);
}

MAIN_TYPED_TEST(Triggers, AFireWhileNobodyWaitsIsRememberedOnce) {
  Trigger trigger;
  trigger.fire();
  trigger.fire();
  delay(5ms);
  trigger.wait({.timeout = 0ms});
  EXPECT_THROW(trigger.wait({.timeout = 2ms}), Timeout);
}

MAIN_TYPED_TEST(Triggers, OnlyAStartedOneIsActivity) {
  FERMATA_CHECKS("THR-04");
  const auto trigger = current_runtime().reactor().triggers().make();
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
  trigger->start();
  EXPECT_EQ(current_runtime().active_event_count(), 1u);
  trigger->stop();
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
}

MAIN_TYPED_TEST(Triggers, OneMayCloseAnotherDuringTheDelivery) {
  FERMATA_CHECKS("CLOSE-02", "CLOSE-09");
  fermata::backend::Triggers& triggers = current_runtime().reactor().triggers();
  auto first = triggers.make();
  auto second = triggers.make();
  int told = 0;
  const Subscription on_first = subscribe(*first, [&](Event&, const Outcome&) {
    second.reset();
    first.reset();
  });
  const Subscription on_second = subscribe(*second, [&](Event&, const Outcome&) { ++told; });
  first->fire();
  second->fire();
  delay(5ms);
  EXPECT_EQ(told, 0);
  EXPECT_FALSE(on_first.is_active());
}

template <class Arm>
class OffloadOf : public ::testing::Test {};
TYPED_TEST_SUITE(OffloadOf, Arms);

MAIN_TYPED_TEST(OffloadOf, ReturnsWhatTheWorkReturned) {
  EXPECT_EQ(offload([] { return std::string("done"); }), "done");
  bool ran = false;
  offload([&] { ran = true; });
  EXPECT_TRUE(ran);
}

MAIN_TYPED_TEST(OffloadOf, ThrowsWhatTheWorkThrew) {
  try {
    offload([]() -> int { throw std::runtime_error("disk on fire"); });
    ADD_FAILURE() << "expected an error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "disk on fire");
  }
}

MAIN_TYPED_TEST(OffloadOf, RunsManyTasksForManyWaiters) {
  std::vector<Coroutine<int>> waiters;
  for (int i = 0; i < 50; ++i) {
    waiters.push_back(spawn("waiter", [i] { return offload([i] { return i * i; }); }));
  }
  for (int i = 0; i < 50; ++i) EXPECT_EQ(await(waiters[static_cast<std::size_t>(i)]), i * i);
}

class Square final : public backend::Task {
 public:
  Square(backend::Offload& offload, std::shared_ptr<int> number)
      : backend::Task(offload), number_(std::move(number)) {}

 private:
  void work() override { *number_ *= *number_; }
  void* result_address() noexcept override { return number_.get(); }

  std::shared_ptr<int> number_;
};

MAIN_TYPED_TEST(OffloadOf, WorkInFlightKeepsWhatItUsesWhoeverWaits) {
  FERMATA_CHECKS("THR-01", "CLOSE-10");
  auto number = std::make_shared<int>(7);
  auto waiter = spawn("waiter", [number] {
    const auto task =
        Ref<Square>::adopt(*new Square(current_runtime().reactor().offload(), number));
    wait(*task);
  });
  suspend();
  waiter.cancel();
  try {
    await(waiter);
  } catch (const Cancellation&) {  // Unless the worker was faster.
  }
  while (number.use_count() > 1) delay(1ms);
  EXPECT_EQ(*number, 49);
}

MAIN_TYPED_TEST(OffloadOf, TellsOnceWhenItIsClosedAndAnswersLateWaiters) {
  FERMATA_CHECKS("THR-02", "CORE-EV-08");
  const auto task = Ref<Square>::adopt(
      *new Square(current_runtime().reactor().offload(), std::make_shared<int>(3)));
  int told = 0;
  bool closed_then = true;
  const Subscription subscription = subscribe(*task, [&](Event& event, const Outcome&) {
    ++told;
    closed_then = closed_then && event.is_closed();
  });
  wait(*task);
  EXPECT_EQ(*static_cast<int*>(wait(*task)), 9);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(closed_then);
  EXPECT_FALSE(task->cancel());
}

MAIN_TYPED_TEST(OffloadOf, ATokenThatHasFiredQueuesNothing) {
  FERMATA_CHECKS("EVT-06");
  Timer token(current_runtime(), 0ms);
  wait(token);
  bool ran = false;
  EXPECT_THROW(offload([&] { ran = true; }, {.token = &token}), OperationCancelled);
  delay(5ms);
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace fermata::conformance
