// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/core/timer_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "fermata/runtime/core/timer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/splitmix.hpp"
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

TEST_F(TimerQueueTest, AgreesWithASortedListInRandomUse) {
  struct Entry {
    Instant deadline;
    std::size_t order;
    Timer* timer;
  };
  std::vector<Entry> model;
  std::vector<Timer*> free;
  for (int i = 0; i < 200; ++i) free.push_back(&make());
  SplitMix random(99);
  Instant now{0};
  for (std::size_t step = 0; step < 20'000; ++step) {
    const auto action = random.below(10);
    if (action < 5 && !free.empty()) {
      const Instant deadline = now + Duration(random.below(50));
      queue_.push(*free.back(), deadline);
      model.push_back({deadline, step, free.back()});
      free.pop_back();
    } else if (action < 7 && !model.empty()) {
      const auto victim = model.begin() + static_cast<std::ptrdiff_t>(random.below(model.size()));
      queue_.remove(*victim->timer);
      free.push_back(victim->timer);
      model.erase(victim);
    } else {
      now = now + Duration(random.below(5));
      const auto first = std::min_element(model.begin(), model.end(), [](auto& a, auto& b) {
        return std::pair(a.deadline, a.order) < std::pair(b.deadline, b.order);
      });
      const bool due = first != model.end() && first->deadline <= now;
      ASSERT_EQ(queue_.pop_due(now, kAnySequence), due ? first->timer : nullptr);
      if (due) {
        free.push_back(first->timer);
        model.erase(first);
      }
    }
    ASSERT_EQ(queue_.size(), model.size());
  }
}

}  // namespace
}  // namespace fermata::test
