// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "fermata/base/error.hpp"
#include "fermata/sync/channel.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using ClockTest = RuntimeFixture;

template <class Clock>
concept ClockOfTheStandard = requires {
  typename Clock::rep;
  typename Clock::period;
  { Clock::now() } -> std::same_as<typename Clock::time_point>;
  requires std::is_same_v<typename Clock::time_point::duration, typename Clock::duration>;
  requires std::is_same_v<decltype(Clock::is_steady), const bool>;
};
static_assert(ClockOfTheStandard<MonotonicClock> && ClockOfTheStandard<WallClock>);

MAIN_TEST_F(ClockTest, ShowsTheTimeOfTheRuntime) {
  const auto start = MonotonicClock::now();
  const auto wall = WallClock::now();
  delay(1500us);
  EXPECT_EQ(MonotonicClock::now() - start, 1500us);
  EXPECT_EQ(MonotonicClock::instant(MonotonicClock::now()), now());
  EXPECT_EQ(WallClock::now() - wall, 1500us);
  EXPECT_EQ(std::chrono::floor<std::chrono::milliseconds>(MonotonicClock::now() - start), 1ms);
}

MAIN_TEST_F(ClockTest, TellsHowLongItIsUntilATime) {
  const auto deadline = MonotonicClock::now() + 2ms;
  EXPECT_EQ(until(deadline), 2ms);
  EXPECT_EQ(until(now() + 3ms), 3ms);
  const Channel<int> silent("silent", 1);
  EXPECT_THROW(static_cast<void>(silent.recv({.timeout = until(deadline)})), Timeout);
  EXPECT_EQ(until(deadline), 0ms);
  EXPECT_EQ(until(deadline - 1h), 0ms);
  EXPECT_EQ(until(Instant{0}), 0ms);
  EXPECT_EQ(until(Instant::never()), Instant::never() - now());
}

MAIN_TEST_F(ClockTest, TakesTimesOfAnyPrecision) {
  using Days = std::chrono::duration<std::int64_t, std::ratio<86'400>>;
  using Day = std::chrono::time_point<MonotonicClock, Days>;
  EXPECT_EQ(until(Day::max()), Duration::max());
  EXPECT_EQ(until(Day(Days(1))) + Duration(now().nanoseconds), 24h);
  EXPECT_GT(until(std::chrono::system_clock::time_point::max()), 24h * 365);
  EXPECT_EQ(until(std::chrono::steady_clock::time_point::min()), 0ms);
}

MAIN_TEST_F(ClockTest, WaitsUntilATimeHasCome) {
  const Instant start = now();
  delay_until(start + 5ms);
  EXPECT_EQ(now() - start, 5ms);
  delay_until(MonotonicClock::from(start) + 7ms);
  EXPECT_EQ(now() - start, 7ms);
  delay_until(start);
  EXPECT_EQ(now() - start, 7ms);
}

TEST(Clock, IsRefusedWhereNoRuntimeRuns) {
  EXPECT_THROW(static_cast<void>(MonotonicClock::now()), UsageError);
  EXPECT_THROW(static_cast<void>(WallClock::now()), UsageError);
}

}  // namespace
}  // namespace fermata::test
