// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/deadline_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <utility>

#include "tests/support/splitmix.hpp"

namespace fermata::loop::detail {
namespace {

class LoopDeadlineQueue : public ::testing::Test {
 protected:
  TimerSource& make(std::int64_t deadline) {
    TimerSource& timer = timers_.emplace_back();
    timer.id = timers_.size();
    timer.kind = CallbackKind::Delay;
    timer.deadline = Instant{deadline};
    table_.insert(timer.id, timer);
    return timer;
  }
  TimerSource& push(std::int64_t deadline) {
    TimerSource& timer = make(deadline);
    queue_.push(timer);
    return timer;
  }

  IdTable<Source> table_;
  std::deque<TimerSource> timers_;
  DeadlineQueue queue_{table_};
};

TEST_F(LoopDeadlineQueue, GivesNothingBeforeItsTime) {
  TimerSource& timer = push(7);
  EXPECT_EQ(queue_.earliest(), Instant{7});
  EXPECT_EQ(queue_.pop_due(Instant{6}), nullptr);
  EXPECT_EQ(queue_.pop_due(Instant{7}), &timer);
  EXPECT_FALSE(timer.watched);
  EXPECT_EQ(queue_.earliest(), Instant::never());
}

TEST_F(LoopDeadlineQueue, KnowsNothingOfWhoWasRemoved) {
  TimerSource& early = push(1);
  TimerSource& late = push(2);
  queue_.remove(early);
  table_.erase(early.id);
  EXPECT_EQ(queue_.earliest(), Instant{2});
  EXPECT_EQ(queue_.pop_due(Instant{9}), &late);
  EXPECT_EQ(queue_.pop_due(Instant{9}), nullptr);
}

TEST_F(LoopDeadlineQueue, CountsOnlyTheLastPushOfATimer) {
  TimerSource& again = push(5);
  TimerSource& other = push(5);
  queue_.remove(again);
  queue_.push(again);  // Its deadline is that of the other, which was armed earlier.
  EXPECT_EQ(queue_.pop_due(Instant{5}), &other);
  EXPECT_EQ(queue_.pop_due(Instant{5}), &again);
  EXPECT_EQ(queue_.pop_due(Instant{5}), nullptr);
}

TEST_F(LoopDeadlineQueue, GivesWhatAMapGives) {
  test::SplitMix random(11);
  std::map<std::pair<Instant, std::uint64_t>, TimerSource*> model;
  const auto key = [](const TimerSource& timer) { return std::pair(timer.deadline, timer.arming); };
  for (std::int64_t now = 0; now < 3'000; ++now) {
    for (std::uint64_t count = random.next() % 4; count > 0; --count) {
      TimerSource& timer = push(now + static_cast<std::int64_t>(random.next() % 900));
      model.emplace(key(timer), &timer);
    }
    while (!model.empty() && random.next() % 3 != 0) {
      TimerSource& gone = timers_[random.next() % timers_.size()];
      if (model.erase(key(gone)) == 0) continue;
      queue_.remove(gone);
      if (random.next() % 2 != 0) table_.erase(gone.id);
    }
    for (; !model.empty() && model.begin()->first.first <= Instant{now};
         model.erase(model.begin())) {
      ASSERT_EQ(queue_.pop_due(Instant{now}), model.begin()->second);
    }
    ASSERT_EQ(queue_.pop_due(Instant{now}), nullptr);
    ASSERT_EQ(queue_.earliest(), model.empty() ? Instant::never() : model.begin()->first.first);
  }
}

}  // namespace
}  // namespace fermata::loop::detail
