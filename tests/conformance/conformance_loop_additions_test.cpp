// SPDX-License-Identifier: Apache-2.0
//
// X06 to X12 and X17 to X21 of the additions: liveness, stopping, timers.

#include <algorithm>
#include <iterator>
#include <map>

#include "tests/conformance/loop_case.hpp"
#include "tests/support/splitmix.hpp"

namespace fermata::conformance {
namespace {

class LoopAdditions : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopAdditions, every_arm(), arm_name);

class LoopOrderAdditions : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopOrderAdditions, canonical_arms(), arm_name);

LOOP_CASE(LoopAdditions, OnlyMicrotasksRunAndTheLoopEnds) {
  int calls = 0;
  loop.queue([&] { loop.queue([&] { ++calls; }); });
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopAdditions, AMicrotaskMayKeepTheLoopAlive) {
  int calls = 0;
  loop.queue([&] { loop.delay(2ms, [&] { ++calls; }); });
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopAdditions, ADeferMayEndTheLoopBeforeItWouldWait) {
  loop.delay(1ms, [] {});
  arm.drive();
  loop.unreference(loop.on_readable(arm.never_readable(), [] {}));
  const CallbackId only = loop.delay(1h, [] {});
  loop.defer([&] { loop.cancel(only); });
  const Instant began = now();
  arm.drive();
  EXPECT_LE(now() - began, arm.slack());
}

LOOP_CASE(LoopAdditions, WhatIsReadyWhenTheLoopIsStoppedStillRuns) {
  std::string order;
  for (const char name : {'a', 'b'}) {
    const StreamPair pair = arm.stream_pair();
    arm.write(pair.far, "x");
    loop.on_readable(pair.near, [&, name] {
      order += name;
      loop.stop();
    });
  }
  arm.drive();
  EXPECT_EQ(in_open_order(order), "ab");
}

LOOP_CASE(LoopAdditions, StopBeforeRunHasNoEffect) {
  int calls = 0;
  loop.stop();
  loop.delay(1ms, [&] { ++calls; });
  loop.stop();
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopAdditions, ATimerMayDisableOneThatIsDueWithIt) {
  int calls = 0;
  CallbackId sibling = 0;
  loop.delay(1ms, [&] { loop.disable(sibling); });
  sibling = loop.delay(2ms, [&] { ++calls; });
  arm.block_for(3ms);
  arm.drive();
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(loop.has(sibling));
}

LOOP_CASE(LoopAdditions, ARepeatThatCancelsItselfIsDone) {
  int calls = 0;
  loop.repeat(1ms, [&](CallbackId id) {
    ++calls;
    loop.cancel(id);
    arm.block_for(3ms);
  });
  loop.delay(8ms, [] {});
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopOrderAdditions, EqualDeadlinesFireInArmingOrder) {
  std::vector<int> order;
  // On a clock that goes on between two calls they are only nearly equal, and due together.
  for (int number = 0; number < 100; ++number) {
    loop.delay(1ms, [&order, number] { order.push_back(number); });
  }
  arm.block_for(3ms);
  arm.drive();
  EXPECT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

LOOP_CASE(LoopAdditions, ATimerIsNeverEarly) {
  test::SplitMix random(18);
  int fired = 0;
  for (int number = 0; number < 1000; ++number) {
    const Duration span(static_cast<std::int64_t>(random.below(20'000'001)));
    const Instant created = now();
    loop.delay(span, [&fired, &arm, span, created] {
      ++fired;
      EXPECT_GE(now() - created, span);
      EXPECT_LE(now() - created, span + arm.slack());
    });
  }
  arm.drive();
  EXPECT_EQ(fired, 1000);
}

LOOP_CASE(LoopAdditions, ARepeatThatWasHeldUpIsCalledOnceAndThenOnTime) {
  std::vector<Instant> calls;
  loop.repeat(4ms, [&](CallbackId id) {
    calls.push_back(now());
    if (calls.size() == 1) arm.block_for(20ms);
    if (calls.size() == 4) loop.cancel(id);
  });
  arm.drive();
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_GE(calls[1] - calls[0], 20ms);
  EXPECT_LE(calls[1] - calls[0], 20ms + arm.slack());
  for (const std::size_t index : {2u, 3u}) {
    EXPECT_GE(calls[index] - calls[index - 1], 3ms);  // Counted from when the one before was due.
    EXPECT_LE(calls[index] - calls[index - 1], 4ms + arm.slack());
  }
}

LOOP_CASE(LoopAdditions, AChainOfZeroDelaysLetsADescriptorIn) {
  const StreamPair pair = arm.stream_pair();
  arm.write(pair.far, "x");
  int links = 0;
  int handled_after = -1;
  std::function<void()> next = [&] {
    ++links;
    if (handled_after < 0 && links < 1000) loop.delay(0ms, [&] { next(); });
  };
  loop.delay(0ms, [&] { next(); });
  loop.on_readable(pair.near, [&](CallbackId id) {
    handled_after = links;
    loop.cancel(id);
  });
  arm.drive();
  EXPECT_GE(handled_after, 0);
  EXPECT_LE(handled_after, 2);
}

/// Arms and cancels timers at random, from outside and from their own callbacks, beside a model of
/// those that are armed: by id, between which times the deadline is.
class TimerScript {
 public:
  TimerScript(Loop& loop, std::uint64_t seed) : loop_(loop), random_(seed) {}

  void act() {
    if (!armed_.empty() && random_.below(3) == 0) {
      const auto victim =
          std::next(armed_.begin(), static_cast<std::ptrdiff_t>(random_.below(armed_.size())));
      EXPECT_TRUE(loop_.cancel(victim->first));
      armed_.erase(victim);
      return check_count();
    }
    const Duration span = 100us * random_.below(40);
    const Instant before = now();
    const CallbackId id = loop_.delay(span, [this](CallbackId self) { fired(self); });
    armed_[id] = {before + span, now() + span};
    check_count();
  }
  void check_all_fired() const { EXPECT_TRUE(armed_.empty()); }

 private:
  struct Deadline {
    Instant earliest;
    Instant latest;
  };

  void check_count() const { EXPECT_EQ(loop_.timer_count(), armed_.size()); }

  void fired(CallbackId id) {
    const auto found = armed_.find(id);
    ASSERT_NE(found, armed_.end()) << "a timer that was cancelled, or has fired before";
    EXPECT_GE(found->second.latest, last_) << "a timer after one of a later deadline";
    last_ = std::max(last_, found->second.earliest);
    armed_.erase(found);
    check_count();
    if (actions_left_ > 0) {
      --actions_left_;
      act();
    }
  }

  Loop& loop_;
  test::SplitMix random_;
  std::map<CallbackId, Deadline> armed_;
  Instant last_;
  int actions_left_ = 200;
};

LOOP_CASE(LoopAdditions, TimersFireAsASortedModelSays) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    TimerScript script(loop, seed);
    for (int step = 0; step < 300; ++step) script.act();
    arm.drive();
    script.check_all_fired();
  }
}

}  // namespace
}  // namespace fermata::conformance
