// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/audit/debugger_stops.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "fermata/base/error.hpp"

namespace fermata::sim::detail {
namespace {

/// A debugger that lets the process go on at once.
class DebuggerStopsTest : public ::testing::Test {
 protected:
  DebuggerStopsTest() {
    stops_.stop_by_call = 1;
    begin_stops(3);
  }
  ~DebuggerStopsTest() override {
    stop_at_end();
    stops_ = before_;
  }

  /// Whether it has stopped since the last question, and why.
  std::uint64_t take_reason() {
    const std::uint64_t reason = stops_.reason;
    stops_.reason = DebuggerStops::kNone;
    return reason;
  }
  template <class T>
  void watch(const T& object) {
    stops_.watched_address = reinterpret_cast<std::uint64_t>(&object);
    stops_.watched_size = sizeof object;
  }

  DebuggerStops& stops_ = fermata_debugger_stops;

 private:
  DebuggerStops before_ = fermata_debugger_stops;
};

TEST_F(DebuggerStopsTest, StopsOnceInTheFirstStepThatIsNotBefore) {
  EXPECT_TRUE(stops_wanted());
  stop_in_step(2);
  EXPECT_EQ(take_reason(), DebuggerStops::kNone);
  stop_in_step(4);
  EXPECT_EQ(take_reason(), DebuggerStops::kStep);
  stop_in_step(5);
  EXPECT_EQ(take_reason(), DebuggerStops::kNone);
}

TEST_F(DebuggerStopsTest, StopsBetweenTwoSteps) {
  stops_.stop_before = 8;
  stop_between_steps(6);
  EXPECT_EQ(take_reason(), DebuggerStops::kNone);
  EXPECT_EQ(stops_.step, 7u);
  stop_between_steps(7);
  EXPECT_EQ(take_reason(), DebuggerStops::kBoundary);
  EXPECT_EQ(stops_.step, 8u);
  EXPECT_EQ(stops_.stop_before, 0u);
}

TEST_F(DebuggerStopsTest, StopsAtFailureAndEndIfThatIsWanted) {
  stop_at_failure();
  EXPECT_EQ(take_reason(), DebuggerStops::kNone);
  stops_.stop_at_failure = 1;
  stop_at_failure();
  EXPECT_EQ(take_reason(), DebuggerStops::kFailure);
  stops_.stop_at_end = 1;
  stop_at_end();
  EXPECT_EQ(take_reason(), DebuggerStops::kEnd);
  EXPECT_FALSE(stops_wanted());
}

TEST_F(DebuggerStopsTest, KnowsTheLastStepThatLeftAnotherValue) {
  int watched = 5;
  watch(watched);
  stop_between_steps(1);
  EXPECT_EQ(stops_.changed_in, 1u);  // Nothing was known before.
  stop_between_steps(2);
  EXPECT_EQ(stops_.changed_in, 1u);
  watched = 6;
  stop_between_steps(3);
  stop_between_steps(4);
  EXPECT_EQ(stops_.changed_in, 3u);
  EXPECT_EQ(stops_.seen_size, sizeof watched);
}

TEST_F(DebuggerStopsTest, WatchesWhatIsNotMapped) {
  stops_.watched_address = 16;
  stops_.watched_size = 8;
  stop_between_steps(1);
  EXPECT_EQ(stops_.changed_in, 0u);
  EXPECT_EQ(stops_.seen_size, 0u);
}

TEST(DebuggerStops, AreForReplaysUnderADebugger) {
  EXPECT_THROW(require_debugger(""), UsageError);
  EXPECT_THROW(require_debugger("run.tape"), UsageError);
}

TEST(DebuggerStops, AreNotWantedWithoutAStep) {
  begin_stops(0);
  EXPECT_FALSE(stops_wanted());
}

}  // namespace
}  // namespace fermata::sim::detail
