// SPDX-License-Identifier: Apache-2.0
//
// Section H of the list, and X22 to X25 of the additions: signals.

#include <csignal>

#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopSignals : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopSignals, every_arm(), arm_name);

/// Cases about the process's own dispositions.
class LoopRealSignals : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopRealSignals, real_arms(), arm_name);

LOOP_CASE(LoopSignals, ASignalIsToldWithItsNumber) {
  int calls = 0;
  loop.delay(1ms, [&] { arm.raise(kSignal); });
  loop.on_signal(kSignal, [&](CallbackId id, int signum) {
    ++calls;
    EXPECT_EQ(signum, kSignal);
    loop.cancel(id);
  });
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopSignals, HandlersOfASignalAreCalledInOrderOfRegistration) {
  std::vector<int> order;
  std::vector<CallbackId> ids;
  for (int number = 0; number < 6; ++number) {
    ids.push_back(loop.on_signal(kSignal, [&order, &loop, number](CallbackId id) {
      order.push_back(number);
      loop.cancel(id);
    }));
  }
  loop.cancel(ids[2]);
  loop.disable(ids[4]);
  loop.delay(1ms, [&] {
    loop.enable(ids[4]);
    loop.defer([&] {
      order.push_back(-1);
      arm.raise(kSignal);
    });
  });
  arm.drive();
  ASSERT_FALSE(order.empty());
  EXPECT_EQ(order.front(), -1);
  EXPECT_EQ(in_open_order(order), (std::vector{-1, 0, 1, 3, 4, 5}));
}

LOOP_CASE(LoopSignals, ASignalIsDeliveredWhileTheLoopIsBusy) {
  int ticks = 0;
  int delivered_in = -1;
  std::function<void()> count;
  count = [&] {
    ++ticks;
    if (delivered_in < 0 && ticks < 100) loop.defer([&] { count(); });
  };
  loop.on_signal(kSignal, [&](CallbackId id) {
    delivered_in = ticks;
    loop.cancel(id);
  });
  loop.delay(1ms, [&] {
    loop.defer([&] {
      arm.raise(kSignal);
      count();
    });
  });
  arm.drive();
  EXPECT_GE(delivered_in, 1);
  EXPECT_LE(delivered_in, 3);
}

// The defers of a tick are the last of the program's code before its poll.
LOOP_CASE(LoopSignals, ASignalRightBeforeTheOnlyPollIsNotLost) {
  int calls = 0;
  loop.on_signal(kSignal, [&](CallbackId id) {
    ++calls;
    loop.cancel(id);
  });
  loop.defer([&] { loop.defer([&] { arm.raise(kSignal); }); });
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopSignals, ManyRaisesBeforeATickAreOneCallOfEach) {
  std::vector<int> order;
  for (int number = 0; number < 3; ++number) {
    loop.on_signal(kSignal, [&order, &loop, number](CallbackId id) {
      order.push_back(number);
      EXPECT_GE(loop.signal_count(id), 1u);
    });
  }
  loop.delay(1ms, [&] {
    for (int raise = 0; raise < 50; ++raise) arm.raise(kSignal);
    loop.delay(5ms, [&] { loop.stop(); });
  });
  arm.drive();
  EXPECT_EQ(in_open_order(order), (std::vector{0, 1, 2}));
}

void disposition_of_before(int) {}

LOOP_CASE(LoopRealSignals, TheDispositionFoundBeforeIsRestored) {
  struct sigaction mine = {};
  mine.sa_handler = disposition_of_before;
  struct sigaction before = {};
  ASSERT_EQ(::sigaction(SIGUSR2, &mine, &before), 0);
  const auto handler_now = [] {
    struct sigaction there = {};
    EXPECT_EQ(::sigaction(SIGUSR2, nullptr, &there), 0);
    return there.sa_handler;
  };
  const CallbackId first = loop.on_signal(SIGUSR2, [] {});
  const CallbackId second = loop.on_signal(SIGUSR2, [] {});
  loop.delay(1ms, [&] {
    EXPECT_NE(handler_now(), disposition_of_before);
    loop.cancel(first);
    EXPECT_NE(handler_now(), disposition_of_before);
    loop.cancel(second);
  });
  arm.drive();
  EXPECT_EQ(handler_now(), disposition_of_before);
  ASSERT_EQ(::sigaction(SIGUSR2, &before, nullptr), 0);
}

LOOP_CASE(LoopSignals, ASignalThatNobodyCanHandleIsRefusedAtTheCall) {
  int calls = 0;
  loop.delay(1ms, [&] { ++calls; });
  for (const int signum : {SIGKILL, SIGSTOP, 0, -1, 4711}) {
    const std::string text = text_of<UsageError>([&] { loop.on_signal(signum, [] {}); });
    EXPECT_NE(text.find(std::to_string(signum)), std::string::npos) << text;
  }
  loop.delay(1ms, [&] { ++calls; });
  arm.drive();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(loop.identifiers().empty());
}

}  // namespace
}  // namespace fermata::conformance
