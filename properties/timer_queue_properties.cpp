// SPDX-License-Identifier: Apache-2.0

// The heap of timers against a sorted list: after every push, removal, rearming and pop both have
// as many timers, and the same one comes first.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "fermata/core/timer.hpp"
#include "fermata/core/timer_queue.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/splitmix.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::properties {
namespace {

using namespace std::chrono_literals;

class Heap {
 public:
  Heap(std::uint64_t seed, std::size_t timers) : random_(seed) {
    while (timers_.size() < timers) idle_.push_back(&timers_.emplace_back(fixture_.runtime, 1ns));
  }

  void act() {
    switch (random_.below(6)) {
      case 0:
      case 1:
      case 2:
        return push();
      case 3:
        return remove();
      case 4:
        return rearm();
      default:
        return pop_due();
    }
  }
  void empty() {
    now_ = Instant::never();
    while (!sorted_.empty()) {
      pop(queue_.next_sequence());
      check();
    }
    EXPECT_EQ(queue_.pop_due(now_, queue_.next_sequence()), nullptr);
  }
  void check() const {
    ASSERT_EQ(queue_.size(), sorted_.size());
    ASSERT_EQ(queue_.earliest(), sorted_.empty() ? Instant::never() : sorted_.begin()->first.first);
    ASSERT_EQ(queue_.next_sequence(), pushes_);
  }

 private:
  using Due = std::pair<Instant, std::uint64_t>;  // And when it was armed.

  /// Few different ones, so that many are equal; some of them over already.
  Instant draw_deadline() { return now_ + (Duration(random_.below(40)) - Duration(5)); }

  void arm(Timer& timer) {
    const Instant deadline = random_.once_in(50) ? Instant::never() : draw_deadline();
    queue_.push(timer, deadline);
    sorted_.emplace(Due(deadline, pushes_++), &timer);
  }
  void push() {
    if (idle_.empty()) return;
    Timer& timer = *idle_.back();
    idle_.pop_back();
    arm(timer);
  }
  Timer* take_any() {
    if (sorted_.empty()) return nullptr;
    const auto victim =
        std::next(sorted_.begin(), static_cast<std::ptrdiff_t>(random_.below(sorted_.size())));
    Timer* const timer = victim->second;
    sorted_.erase(victim);
    queue_.remove(*timer);
    return timer;
  }
  void remove() {
    if (Timer* const timer = take_any()) idle_.push_back(timer);
  }
  void rearm() {
    if (Timer* const timer = take_any()) arm(*timer);
  }
  void pop_due() {
    now_ = now_ + Duration(random_.below(8));
    // Whoever looks knows what was armed before; now and then that was a while ago.
    const std::uint64_t before =
        random_.once_in(4) ? random_.below(pushes_ + 1) : queue_.next_sequence();
    pop(before);
  }
  void pop(std::uint64_t armed_before) {
    const auto first = sorted_.begin();
    const bool due =
        first != sorted_.end() && first->first.first <= now_ && first->first.second < armed_before;
    ASSERT_EQ(queue_.pop_due(now_, armed_before), due ? first->second : nullptr);
    if (!due) return;
    idle_.push_back(first->second);
    sorted_.erase(first);
  }

  test::TestRuntime fixture_;
  test::SplitMix random_;
  std::deque<Timer> timers_;
  detail::TimerQueue queue_;
  std::map<Due, Timer*> sorted_;
  std::vector<Timer*> idle_;
  std::uint64_t pushes_ = 0;
  Instant now_{100};
};

TEST(TimerQueue, IsASortedListAfterEveryOperation) {
  FERMATA_CHECKS("TMR-01", "TMR-04");
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Heap heap(seed, 1 + seed * 3);
    for (int step = 0; step < 2'000; ++step) {
      heap.act();
      heap.check();
      if (::testing::Test::HasFailure()) return;
    }
    heap.empty();
  }
}

}  // namespace
}  // namespace fermata::properties
