// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/timeout.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/operation.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTimedOut = "fermata::Timeout: Timeout occurred after 10 milliseconds";

class TimeoutTest : public RuntimeFixture {};

/// What a wait for `event` throws, and the error object itself.
std::exception_ptr error_of_wait(Event& event) {
  try {
    wait(event);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

MAIN_TEST_F(TimeoutTest, EndsWithATimeoutAtItsDeadline) {
  FERMATA_CHECKS("CORE-CN-07");
  const Instant start = now();
  const auto limit = make_timeout(10ms);
  EXPECT_EQ(limit->deadline() - start, 10ms);
  EXPECT_FALSE(limit->is_completed());
  EXPECT_EQ(describe(error_of_wait(*limit)), kTimedOut);
  EXPECT_EQ(now() - start, 10ms);
  EXPECT_TRUE(limit->is_completed());
  EXPECT_FALSE(limit->is_cancelled());
}

MAIN_TEST_F(TimeoutTest, HasADeadlineThatNoWaitMoves) {
  FERMATA_CHECKS("CORE-CN-07");
  const auto limit = make_timeout(10ms);
  const Instant start = now();
  delay(4ms);
  EXPECT_THROW(wait(*limit, {2ms, nullptr}), Timeout);
  EXPECT_EQ(now() - start, 6ms);
  EXPECT_THROW(wait(*limit), Timeout);
  EXPECT_EQ(now() - start, 10ms) << "absolute";
}

MAIN_TEST_F(TimeoutTest, GivesEachWaiterAnErrorObjectOfItsOwn) {
  FERMATA_CHECKS("CORE-CN-07");
  const auto limit = make_timeout(10ms);
  const auto other = spawn([&] { return error_of_wait(*limit); });
  const std::exception_ptr mine = error_of_wait(*limit);
  const std::exception_ptr others = await(other);
  const std::exception_ptr late = error_of_wait(*limit);
  for (const auto& error : {mine, others, late}) EXPECT_EQ(describe(error), kTimedOut);
  EXPECT_TRUE(mine != others && mine != late && others != late);
}

MAIN_TEST_F(TimeoutTest, RaisesAtOnceOnceItHasFired) {
  FERMATA_CHECKS("CORE-CN-09", "CORE-EV-13");
  const auto limit = make_timeout(10ms);
  EXPECT_THROW(wait(*limit), Timeout);
  const auto ticks = runtime.metrics().ticks;
  for (int i = 0; i < 3; ++i) EXPECT_THROW(wait(*limit), Timeout);
  EXPECT_EQ(runtime.metrics().ticks, ticks);
  EXPECT_EQ(limit->replay(), limit->replay());
}

MAIN_TEST_F(TimeoutTest, FiresAtOnceWhenItIsWaitedForAfterItsDeadline) {
  const auto limit = make_timeout(10ms);
  delay(1s);
  EXPECT_FALSE(limit->is_completed()) << "nobody has waited for it";
  const auto ticks = runtime.metrics().ticks;
  EXPECT_THROW(wait(*limit), Timeout);
  EXPECT_EQ(runtime.metrics().ticks, ticks);
  EXPECT_EQ(runtime.active_event_count(), 0u);
  EXPECT_EQ(limit->loop_ref_count(), 0u);
}

TEST_F(TimeoutTest, KeepsNothingAliveWhileNobodyWaits) {
  FERMATA_CHECKS("CORE-CN-08");
  Instant end;
  fixture.run([&] {
    const auto limit = make_timeout(1h);
    const auto child = spawn([&] { EXPECT_THROW(wait(*limit), Cancellation); });
    suspend();
    EXPECT_EQ(runtime.active_event_count(), 1u);
    child.cancel();
    await(child);
    EXPECT_EQ(runtime.active_event_count(), 0u) << "armed only while waited for";
    const auto unused = make_timeout(1h);
    const auto kept = spawn([unused] { suspend(); });
    await(kept);
    end = now();
  });
  EXPECT_EQ(fixture.reactor->now(), end) << "the run did not wait for it";
}

TEST_F(TimeoutTest, HidesNoDeadlockWhileNobodyWaits) {
  FERMATA_CHECKS("CORE-CN-08");
  EXPECT_THROW(fixture.run([this] {
    const auto limit = make_timeout(1h);
    const auto never = make_event<PlainEvent>(runtime);
    wait(*never);
  }),
               DeadlockError);
}

MAIN_TEST_F(TimeoutTest, CancelsTheOperationThatItIsTheTokenOf) {
  FERMATA_CHECKS("CORE-CN-03", "CORE-CN-04");
  const auto limit = make_timeout(10ms);
  const auto slow = spawn([] {
    delay(20ms);
    return 1;
  });
  try {
    await(slow, {{}, limit.get()});
    FAIL() << "it should have timed out";
  } catch (const OperationCancelled& cancelled) {
    EXPECT_EQ(describe(cancelled.previous()), kTimedOut);
    EXPECT_EQ(cancelled.previous(), limit->replay()->error) << "the token's own error";
  }
  EXPECT_FALSE(slow->is_completed());
  EXPECT_EQ(await(slow), 1) << "untouched";
}

MAIN_TEST_F(TimeoutTest, LosesAgainstAnOperationThatIsComplete) {
  const auto limit = make_timeout(10ms);
  const auto value = spawn([] { return 7; });
  delay(1s);
  EXPECT_EQ(await(value, {{}, limit.get()}), 7) << "expired, and nobody has been told";
  EXPECT_THROW(wait(*limit), Timeout);
  EXPECT_EQ(await(value, {{}, limit.get()}), 7) << "fired";
}

MAIN_TEST_F(TimeoutTest, IsIgnoredAsATokenOfItself) {
  const auto limit = make_timeout(10ms);
  EXPECT_THROW(wait(*limit, {{}, limit.get()}), Timeout);
}

MAIN_TEST_F(TimeoutTest, DoesNotFireOnceItIsCalledOff) {
  const auto limit = make_timeout(10ms);
  limit->cancel();
  limit->cancel(std::make_exception_ptr(Cancellation("too late")));
  EXPECT_TRUE(limit->is_completed());
  EXPECT_TRUE(limit->is_cancelled());
  EXPECT_EQ(describe(limit->replay()->error), "fermata::Cancellation: Timeout has been cancelled");
  EXPECT_THROW(wait(*limit), AwaitedCancelled);
  const auto value = spawn([] {
    delay(20ms);
    return 1;
  });
  EXPECT_EQ(await(value, {{}, limit.get()}), 1);
  EXPECT_NO_THROW(detail::check_token({{}, limit.get()}));
  EXPECT_EQ(runtime.active_event_count(), 0u);
}

MAIN_TEST_F(TimeoutTest, WakesItsWaitersAndLeavesTheWaitsItIsTheTokenOf) {
  const auto limit = make_timeout(10ms);
  const auto waiter = spawn([&] { return describe(error_of_wait(*limit)); });
  const auto user = spawn([&] {
    const auto slow = spawn([] { delay(20ms); });
    await(slow, {{}, limit.get()});
    return now();
  });
  const Instant start = now();
  suspend();
  suspend();
  limit->cancel(std::make_exception_ptr(Cancellation("not needed")));
  EXPECT_EQ(await(waiter),
            "fermata::AwaitedCancelled: Timeout #3 (10ms) was cancelled: not needed\n"
            "  previous: fermata::Cancellation: not needed");
  EXPECT_EQ(await(user) - start, 20ms);
  EXPECT_FALSE(current_coroutine().is_cancellation_requested());
}

MAIN_TEST_F(TimeoutTest, CannotBeCalledOffOnceItHasFired) {
  const auto limit = make_timeout(10ms);
  EXPECT_THROW(wait(*limit), Timeout);
  limit->cancel();
  EXPECT_FALSE(limit->is_cancelled());
  EXPECT_THROW(wait(*limit), Timeout);
}

MAIN_TEST_F(TimeoutTest, SaysWhatItIs) {
  const auto limit = make_timeout(1500us);
  EXPECT_EQ(limit->info(), fmt::format("Timeout #{} (2ms)", limit->serial()));
}

MAIN_TEST_F(TimeoutTest, RefusesWhatIsNoSpanAndNoCancellation) {
  EXPECT_EQ(thrown_by([] { static_cast<void>(make_timeout(0ms)); }),
            "fermata::UsageError: timeout of 0 ns: expected more than zero");
  EXPECT_EQ(thrown_by([] { static_cast<void>(make_timeout(-1ns)); }),
            "fermata::UsageError: timeout of -1 ns: expected more than zero");
  const auto limit = make_timeout(1ms);
  EXPECT_THROW(limit->cancel(std::make_exception_ptr(Error("no"))), UsageError);
  EXPECT_FALSE(limit->is_completed());
  EXPECT_THROW(wait(*limit), Timeout);
  EXPECT_EQ(make_timeout(Duration::max())->deadline(), Instant::never());
}

}  // namespace
}  // namespace fermata::test
