// SPDX-License-Identifier: Apache-2.0
//
// X01 to X05 of the additions: the facade.

#include <set>

#include "fermata/loop/event_interface.hpp"
#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

using loop::EventInterface;
using loop::TimerId;

class LoopFacade : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopFacade, every_arm(), arm_name);

class LoopOrderFacade : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopOrderFacade, canonical_arms(), arm_name);

LOOP_CASE(LoopFacade, OffDelayIsTrueOnce) {
  EventInterface events(loop);
  int calls = 0;
  const TimerId cancelled = events.delay(1ms, [&] { ++calls; });
  EXPECT_TRUE(events.off_delay(cancelled));
  EXPECT_FALSE(events.off_delay(cancelled));
  const TimerId fired = events.delay(1ms, [&] { ++calls; });
  arm.drive();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(events.off_delay(fired));
}

LOOP_CASE(LoopFacade, TheTimerCountIsOfLiveTimers) {
  EventInterface events(loop);
  EXPECT_EQ(events.get_timer_count(), 0u);
  std::size_t in_delay = 99;
  bool own_id_was_live = true;
  const TimerId repeat = events.repeat(1ms, [] {});
  events.delay(2ms, [&](TimerId id) {
    own_id_was_live = events.off_delay(id);
    in_delay = events.get_timer_count();
    events.off_repeat(repeat);
  });
  EXPECT_EQ(events.get_timer_count(), 2u);
  arm.drive();
  EXPECT_EQ(in_delay, 1u);
  EXPECT_FALSE(own_id_was_live);
  EXPECT_EQ(events.get_timer_count(), 0u);

  int calls = 0;
  events.delay(1ms, [&] { events.delete_all_timer(); });
  events.repeat(2ms, [&] { ++calls; });  // Due in the same tick.
  events.delay(2ms, [&] { ++calls; });
  arm.block_for(3ms);
  arm.drive();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(events.get_timer_count(), 0u);
}

LOOP_CASE(LoopOrderFacade, ASecondHandlerOfADescriptorReplacesTheFirst) {
  EventInterface events(loop);
  const StreamPair other = arm.stream_pair();
  const StreamPair pair = arm.stream_pair();
  arm.write(other.far, "x");
  arm.write(pair.far, "x");
  std::string order;
  // The first handler of `pair` is ready when the one of `other` replaces it.
  events.on_readable(other.near, [&] {
    order += 'o';
    events.off_readable(other.near);
    events.on_readable(pair.near, [&] {
      order += '2';
      EXPECT_TRUE(events.off_readable(pair.near));
      EXPECT_FALSE(events.off_readable(pair.near));
    });
  });
  events.on_readable(pair.near, [&] { order += '0'; });
  events.on_readable(pair.near, [&] { order += '1'; });
  arm.drive();
  EXPECT_EQ(order, "o2");
}

LOOP_CASE(LoopFacade, TimerIdsArePositiveAndOfOneSpace) {
  EventInterface events(loop);
  std::set<TimerId> ids;
  for (int round = 0; round < 10; ++round) {
    const TimerId delay = events.delay(1s, [] {});
    const TimerId repeat = events.repeat(1s, [] {});
    EXPECT_GT(delay, 0u);
    EXPECT_GT(repeat, 0u);
    EXPECT_TRUE(ids.insert(delay).second);
    EXPECT_TRUE(ids.insert(repeat).second);
    EXPECT_TRUE(events.off_repeat(delay));
    EXPECT_TRUE(events.off_delay(repeat));
  }
  EXPECT_EQ(events.get_timer_count(), 0u);
}

LOOP_CASE(LoopFacade, ASecondHandlerOfASignalReplacesTheFirst) {
  EventInterface events(loop);
  std::string order;
  events.on_signal(kSignal, [&] { order += '1'; });
  events.on_signal(kSignal, [&] {
    order += '2';
    EXPECT_TRUE(events.off_signal(kSignal));
    EXPECT_FALSE(events.off_signal(kSignal));
  });
  events.delay(1ms, [&] { arm.raise(kSignal); });
  arm.drive();
  EXPECT_EQ(order, "2");
}

}  // namespace
}  // namespace fermata::conformance
