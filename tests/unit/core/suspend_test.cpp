// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/suspend.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <exception>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class SuspendTest : public RuntimeFixture {};

TEST_F(SuspendTest, LetsEveryReadyCoroutineGoFirst) {
  std::vector<int> order;
  fixture.run([&] {
    for (int i = 0; i < 3; ++i) spawn([&order, i] { order.push_back(i); });
    suspend();
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
  });
}

TEST_F(SuspendTest, ForNoTimeLetsEveryReadyCoroutineGoFirst) {
  FERMATA_CHECKS("CORE-CN-10");
  std::vector<int> order;
  fixture.run([&] {
    for (int i = 0; i < 3; ++i) spawn([&order, i] { order.push_back(i); });
    const Instant before = now();
    delay(0ns);
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
    EXPECT_EQ(now(), before);
  });
  EXPECT_EQ(runtime.metrics().timers_fired, 0u);
}

MAIN_TEST_F(SuspendTest, RefusesANegativeSpan) {
  EXPECT_EQ(thrown_by([] { delay(-5ns); }),
            "fermata::UsageError: a span of -5 ns: expected zero or more");
}

MAIN_TEST_F(SuspendTest, RefusesToYieldWhileEventsAreRegistered) {
  const auto event = make_event<PlainEvent>(runtime);
  backend::Waker& waker = current_coroutine().waker();
  waker.resume_when(*event, backend::WakeRule::Resolve);
  EXPECT_EQ(thrown_by([] { suspend(); }),
            "fermata::UsageError: suspend: the coroutine has registered events to wait for");
  EXPECT_EQ(waker.status, backend::WakerStatus::None);
  waker.clear();
  EXPECT_EQ(event->callbacks().size(), 0u);
  suspend();
}

MAIN_TEST_F(SuspendTest, KeepsTheCancellationThatEndsADelayFromLeavingATimer) {
  FERMATA_CHECKS("CORE-WK-03", "CORE-EV-01");
  const auto sleeper = spawn([] { delay(1h); });
  suspend();
  EXPECT_EQ(runtime.timers().size(), 1u);
  EXPECT_EQ(runtime.active_event_count(), 1u);
  sleeper.cancel();
  EXPECT_EQ(runtime.timers().size(), 0u);
  EXPECT_EQ(runtime.active_event_count(), 0u);
  suspend();
}

MAIN_TEST_F(SuspendTest, KeepsTheErrorNumberOfEachCoroutine) {
  FERMATA_CHECKS("CORE-WK-14");
  const auto other = spawn([] {
    errno = ENOENT;
    suspend();
    EXPECT_EQ(errno, ENOENT);
  });
  errno = EAGAIN;
  suspend();
  EXPECT_EQ(errno, EAGAIN);
  await(other);
}

/// What code sees of exceptions in flight before and after `action`.
template <class Action>
void expect_same_exceptions(Action action) {
  const int uncaught = std::uncaught_exceptions();
  const auto caught = std::current_exception();
  action();
  EXPECT_EQ(std::uncaught_exceptions(), uncaught);
  EXPECT_EQ(std::current_exception(), caught);
}

TEST_F(SuspendTest, KeepsTheExceptionsInFlightOfEachCoroutine) {
  FERMATA_CHECKS("CORE-GL-14", "CORE-WK-14");
  struct Suspends {
    ~Suspends() {
      expect_same_exceptions([] { suspend(); });
      expect_same_exceptions([] { delay(1ms); });
    }
  };
  const auto body = [](int depth) {
    return [depth] {
      for (int i = 0; i <= depth; ++i) {
        try {
          const Suspends in_flight;
          throw Error("in flight");
        } catch (...) {
          expect_same_exceptions([] { suspend(); });
          expect_same_exceptions([] { delay(2ms); });
        }
      }
    };
  };
  fixture.run([&] {
    std::vector<Coroutine<>> all;
    for (int depth = 0; depth < 4; ++depth) all.push_back(spawn(body(depth)));
    for (const auto& each : all) await(each);
  });
}

}  // namespace
}  // namespace fermata::test
