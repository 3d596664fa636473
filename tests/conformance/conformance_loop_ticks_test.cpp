// SPDX-License-Identifier: Apache-2.0
//
// Section C of the list: ticks, order, microtasks.

#include <algorithm>
#include <memory>

#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopTicks : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopTicks, every_arm(), arm_name);

using Order = std::vector<std::string>;

/// Registers a callback that adds `name` to `order`.
auto note(Order& order, std::string name) {
  return [&order, name = std::move(name)] { order.push_back(name); };
}

// Tick 1: the defers that are enabled. Tick 2: what they registered, and only now the timers that
// are due; the later ones of those each in a tick of its own, as its deadline has it.
LOOP_CASE(LoopTicks, ATickCallsWhatIsDueInTheOrderOfTheContract) {
  Order order;
  const CallbackId late = loop.delay(30ms, note(order, "timer 30"));
  loop.delay(20ms, note(order, "timer 20"));
  loop.delay(10ms, note(order, "timer 10"));
  const CallbackId disabled_timer = loop.delay(5ms, note(order, "disabled timer"));
  const CallbackId cancelled_timer = loop.delay(5ms, note(order, "cancelled timer"));
  loop.disable(disabled_timer);
  loop.cancel(cancelled_timer);
  const CallbackId first = loop.defer(note(order, "defer 1"));
  const CallbackId disabled = loop.defer(note(order, "disabled defer"));
  const CallbackId cancelled = loop.defer(note(order, "cancelled defer"));
  loop.defer([&] {
    order.emplace_back("defer 2");
    loop.defer([&] {
      order.emplace_back("defer of the next tick");
      loop.disable(late);
      loop.defer([&] {
        order.emplace_back("defer of the tick after");
        loop.enable(late);  // Counts its 30 ms anew, so that it stays the last one.
      });
    });
  });
  loop.disable(first);
  loop.enable(first);  // Behind "defer 2" now.
  loop.disable(disabled);
  loop.cancel(cancelled);
  arm.drive();
  EXPECT_EQ(order, (Order{"defer 2", "defer 1", "defer of the next tick", "defer of the tick after",
                          "timer 10", "timer 20", "timer 30"}));
  EXPECT_FALSE(loop.is_enabled(disabled));
  EXPECT_FALSE(loop.is_enabled(disabled_timer));
}

LOOP_CASE(LoopTicks, ADisabledDeferRunsInTheTickAfterItIsEnabled) {
  Order order;
  const CallbackId id = loop.defer(note(order, "disabled first"));
  loop.disable(id);
  loop.defer([&] {
    order.emplace_back("enables");
    loop.enable(id);
    loop.queue([&] { order.emplace_back("still the same tick"); });
  });
  loop.defer(note(order, "beside it"));
  arm.drive();
  EXPECT_EQ(order, (Order{"enables", "still the same tick", "beside it", "disabled first"}));
}

LOOP_CASE(LoopTicks, WhatIsEnabledAgainIsCalled) {
  int calls = 0;
  const CallbackId id = loop.defer([&] { ++calls; });
  loop.disable(id);
  arm.drive();
  EXPECT_EQ(calls, 0);
  loop.enable(id);
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopTicks, WhatIsDisabledIsNotCalled) {
  int calls = 0;
  loop.disable(loop.defer([&] { ++calls; }));
  loop.delay(2ms, [&] { loop.stop(); });
  arm.drive();
  EXPECT_EQ(calls, 0);
}

LOOP_CASE(LoopTicks, ADeferRunsInTheNextTick) {
  int calls = 0;
  loop.defer([&] { ++calls; });
  loop.defer([&] { loop.stop(); });
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopTicks, ADeferOfADeferWaitsForTheNextTick) {
  int outer = 0;
  int inner = 0;
  loop.defer([&] {
    ++outer;
    loop.defer([&] { ++inner; });
  });
  loop.defer([&] { loop.stop(); });
  arm.drive();
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 0);
}

LOOP_CASE(LoopTicks, WhatIsCancelledIsNotCalled) {
  int calls = 0;
  const CallbackId id = loop.delay(2ms, [&] { ++calls; });
  loop.defer([&] { loop.cancel(id); });
  loop.delay(5ms, [] {});
  arm.drive();
  EXPECT_EQ(calls, 0);
}

LOOP_CASE(LoopTicks, AMicrotaskRunsRightAfterTheCallbackThatQueuedIt) {
  Order order;
  loop.queue(note(order, "task 1"));
  loop.queue([&] {
    order.emplace_back("task 2");
    loop.queue(note(order, "task of a task"));
  });
  loop.defer([&] {
    order.emplace_back("defer 1");
    loop.queue(note(order, "task of defer 1"));
    loop.defer(note(order, "defer of a defer"));
  });
  loop.defer([&] {
    order.emplace_back("defer 2");
    loop.queue(note(order, "task of defer 2"));
  });
  arm.drive();
  EXPECT_EQ(order, (Order{"task 1", "task 2", "task of a task", "defer 1", "task of defer 1",
                          "defer 2", "task of defer 2", "defer of a defer"}));
}

// What a task was given dies as soon as the task lets go of it, and not with the queue.
LOOP_CASE(LoopTicks, AMicrotaskLetsGoOfWhatItHasCaptured) {
  auto argument = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = argument;
  bool died_inside = false;
  loop.queue([argument = std::move(argument), &watched, &died_inside]() mutable {
    EXPECT_FALSE(watched.expired());
    argument.reset();
    died_inside = watched.expired();
  });
  arm.drive();
  EXPECT_TRUE(died_inside);
  EXPECT_TRUE(watched.expired());
}

LOOP_CASE(LoopTicks, ATimersFunctionIsGivenItsIdentifier) {
  std::vector<CallbackId> given;
  std::vector<CallbackId> received;
  given.push_back(loop.defer([&](CallbackId id) { received.push_back(id); }));
  given.push_back(loop.delay(1ms, [&](CallbackId id) { received.push_back(id); }));
  given.push_back(loop.repeat(2ms, [&](CallbackId id) {
    received.push_back(id);
    loop.cancel(id);
  }));
  arm.drive();
  EXPECT_EQ(received, given);
}

LOOP_CASE(LoopTicks, AStreamsFunctionIsGivenItsIdentifierAndDescriptor) {
  const int stream = arm.always_writable();
  CallbackId received = 0;
  int received_stream = -1;
  const CallbackId given = loop.on_writable(stream, [&](CallbackId id, int descriptor) {
    received = id;
    received_stream = descriptor;
    loop.cancel(id);
  });
  arm.drive();
  EXPECT_EQ(received, given);
  EXPECT_EQ(received_stream, stream);
}

LOOP_CASE(LoopTicks, AFunctionKeepsWhatItHasCaptured) {
  Order order;
  const auto data = [](std::string text) { return std::make_unique<std::string>(text); };
  loop.defer([&, held = data("defer")] { order.push_back(*held); });
  loop.delay(1ms, [&, held = data("delay")] { order.push_back(*held); });
  loop.repeat(1ms, [&, held = data("repeat")](CallbackId id) {
    order.push_back(*held);
    loop.cancel(id);
  });
  loop.on_writable(arm.always_writable(), [&, held = data("writable")](CallbackId id) {
    order.push_back(*held);
    loop.cancel(id);
  });
  arm.drive();
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (Order{"defer", "delay", "repeat", "writable"}));
}

}  // namespace
}  // namespace fermata::conformance
