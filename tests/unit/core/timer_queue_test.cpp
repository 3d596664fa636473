// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/timer_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "fermata/core/timer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using detail::TimerQueue;

class TimerQueueTest : public ::testing::Test {
 protected:
  Timer& make() { return timers_.emplace_back(fixture_.runtime, 1ns); }

  TimerQueue queue_;

 private:
  TestRuntime fixture_;
  std::deque<Timer> timers_;
};

constexpr std::uint64_t kAnySequence = ~0ULL;

TEST_F(TimerQueueTest, GivesNothingBeforeItsTime) {
  FERMATA_CHECKS("TMR-01");
  Timer& timer = make();
  EXPECT_EQ(queue_.earliest(), Instant::never());
  queue_.push(timer, Instant{100});
  EXPECT_EQ(queue_.earliest(), Instant{100});
  EXPECT_EQ(queue_.pop_due(Instant{99}, kAnySequence), nullptr);
  EXPECT_EQ(queue_.pop_due(Instant{100}, kAnySequence), &timer);
  EXPECT_EQ(queue_.pop_due(Instant{100}, kAnySequence), nullptr);
}

TEST_F(TimerQueueTest, GivesEqualDeadlinesInArmingOrder) {
  FERMATA_CHECKS("TMR-04");
  std::vector<Timer*> armed;
  for (int i = 0; i < 50; ++i) {
    armed.push_back(&make());
    queue_.push(*armed.back(), Instant{7});
  }
  for (Timer* expected : armed) EXPECT_EQ(queue_.pop_due(Instant{7}, kAnySequence), expected);
}

TEST_F(TimerQueueTest, LeavesWhatWasArmedMeanwhileForTheNextTurn) {
  Timer& old = make();
  Timer& fresh = make();
  queue_.push(old, Instant{5});
  const std::uint64_t now = queue_.next_sequence();
  queue_.push(fresh, Instant{5});
  EXPECT_EQ(queue_.pop_due(Instant{9}, now), &old);
  EXPECT_EQ(queue_.pop_due(Instant{9}, now), nullptr);
  EXPECT_EQ(queue_.pop_due(Instant{9}, queue_.next_sequence()), &fresh);
}

}  // namespace
}  // namespace fermata::test
