// SPDX-License-Identifier: Apache-2.0
//
// Section J of the list, and X27 to X31 of the additions: suspension.

#include <malloc.h>

#include <memory>
#include <optional>

#include "fermata/core/spawn.hpp"
#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

using loop::Suspension;

class LoopSuspension : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopSuspension, every_arm(), arm_name);

class LoopSuspensionMemory : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopSuspensionMemory, canonical_arms(), arm_name);

/// What a callback or task that suspends itself is given by a later defer.
class Waiting {
 public:
  explicit Waiting(Loop& loop) : loop_(loop) {}

  void operator()() {
    suspension_ = loop_.suspension();
    loop_.defer([this] { suspension_.resume(std::string("value")); });
    value_ = suspension_.suspend_for<std::string>();
  }
  [[nodiscard]] const std::string& value() const noexcept { return value_; }

 private:
  Loop& loop_;
  Suspension suspension_;
  std::string value_;
};

LOOP_CASE(LoopSuspension, AMicrotaskMaySuspend) {
  Waiting waiting(loop);
  loop.queue([&] { waiting(); });
  arm.drive();
  EXPECT_EQ(waiting.value(), "value");
}

LOOP_CASE(LoopSuspension, ASecondResumeIsAnError) {
  int resumed = 0;
  loop.queue([&] {
    const Suspension mine = loop.suspension();
    loop.defer([mine] {
      mine.resume();
      mine.resume();
    });
    mine.suspend();
    ++resumed;
  });
  if (arm.refuses_to_suspend_main()) {
    uncaught_in<loop::SuspensionError>([&] { arm.drive(); });
  } else {
    const Suspension main = loop.suspension();
    uncaught_in<loop::SuspensionError>([&] { main.suspend(); });
  }
  arm.drive();
  EXPECT_EQ(resumed, 1);
}

LOOP_CASE(LoopSuspension, ACallbackMaySuspend) {
  Waiting waiting(loop);
  loop.defer([&] { waiting(); });
  arm.drive();
  EXPECT_EQ(waiting.value(), "value");
}

// Memory is looked at after a tenth of the way, and must be the same at its end.
LOOP_CASE(LoopSuspensionMemory, SuspensionsOfACallbackLeaveNoMemoryBehind) {
  constexpr int kSuspensions = 10'000;
  int rounds = 0;
  std::size_t warm = 0;
  loop.repeat(0ms, [&](CallbackId id) {
    const Suspension mine = loop.suspension();
    loop.defer([mine] { mine.resume(); });
    mine.suspend();
    ++rounds;
    if (rounds == kSuspensions / 10) warm = ::mallinfo2().uordblks;
    if (rounds == kSuspensions) loop.cancel(id);
  });
  arm.drive();
  EXPECT_EQ(rounds, kSuspensions);
  EXPECT_LE(::mallinfo2().uordblks, warm + 64 * 1024);
}

LOOP_CASE(LoopSuspension, AMicrotaskOfACallbackMaySuspend) {
  Waiting waiting(loop);
  loop.defer([&] { loop.queue([&] { waiting(); }); });
  arm.drive();
  EXPECT_EQ(waiting.value(), "value");
}

LOOP_CASE(LoopSuspension, AnErrorInterruptsASuspendedMain) {
  if (arm.refuses_to_suspend_main()) return;
  const Suspension old = loop.suspension();
  loop.queue([] { throw Planned("interrupt"); });
  EXPECT_EQ(uncaught_in<Planned>([&] { old.suspend(); }), "interrupt");
  EXPECT_NO_THROW(old.resume());
  EXPECT_NO_THROW(old.fail(std::make_exception_ptr(Planned("late"))));
  EXPECT_THROW(old.suspend(), loop::SuspensionError);
  const Suspension fresh = loop.suspension();
  EXPECT_NE(fresh, old);
  loop.defer([fresh] { fresh.resume(7); });
  EXPECT_EQ(fresh.suspend_for<int>(), 7);
}

LOOP_CASE(LoopSuspension, CallbacksOfATickShareAFiber) {
  std::vector<CoroutineBase*> fibers;
  loop.defer([&] { fibers.push_back(&current_coroutine()); });
  loop.defer([&] { fibers.push_back(&current_coroutine()); });
  arm.drive();
  ASSERT_EQ(fibers.size(), 2u);
  EXPECT_EQ(fibers[0], fibers[1]);
}

LOOP_CASE(LoopSuspension, TheResumerGoesOnBeforeTheResumed) {
  std::string order;
  loop.defer([&] {
    const Suspension mine = loop.suspension();
    loop.defer([&, mine] {
      order += 'a';
      mine.resume();
      order += 'b';
    });
    loop.defer([&] { order += 'd'; });
    mine.suspend();
    order += 'c';
  });
  arm.drive();
  EXPECT_EQ(order, "abcd");
}

LOOP_CASE(LoopSuspension, ResumptionsAndMicrotasksAreOneLine) {
  std::string order;
  std::vector<Suspension> waiting;
  for (const char name : {'a', 'b', 'c'}) {
    loop.defer([&, name] {
      const Suspension mine = loop.suspension();
      waiting.push_back(mine);
      mine.suspend();
      order += name;
    });
  }
  loop.delay(1ms, [&] {
    waiting[0].resume();
    loop.queue([&] { order += '1'; });
    waiting[1].resume();
    loop.queue([&] { order += '2'; });
    waiting[2].resume();
  });
  arm.drive();
  EXPECT_EQ(order, "a1b2c");
}

LOOP_CASE(LoopSuspension, TheLoopEndsUnderASuspendedMain) {
  if (arm.refuses_to_suspend_main()) return;
  std::vector<Suspension> waiting;
  for (int number = 0; number < 2; ++number) {
    loop.defer([&] {
      const Suspension mine = loop.suspension();
      waiting.push_back(mine);
      mine.suspend();
    });
  }
  const Suspension old = loop.suspension();
  try {
    old.suspend();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const loop::LoopDeadlock& error) {
    EXPECT_EQ(error.suspended().size(), 2u);
    for (const std::string& line : error.suspended()) {
      EXPECT_NE(std::string(error.what()).find(line), std::string::npos) << error.what();
      EXPECT_NE(line.find("conformance_loop_suspension_test.cpp"), std::string::npos) << line;
    }
  }
  EXPECT_THROW(old.suspend(), loop::SuspensionError);
  const Suspension fresh = loop.suspension();
  loop.defer([&, fresh] {
    for (const Suspension& each : waiting) each.resume();
    fresh.resume(1);
  });
  EXPECT_EQ(fresh.suspend_for<int>(), 1);
  arm.drive();
  EXPECT_TRUE(loop.suspended().empty());
}

LOOP_CASE(LoopSuspension, StopUnderASuspendedMain) {
  if (arm.refuses_to_suspend_main()) return;
  int calls = 0;
  loop.defer([&] { loop.stop(); });
  loop.delay(2ms, [&] { ++calls; });
  const Suspension old = loop.suspension();
  EXPECT_THROW(old.suspend(), loop::LoopDeadlock);
  EXPECT_EQ(calls, 0);
  arm.drive();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopSuspension, WhatWasReadyWhenMainWasResumedComesFirst) {
  if (arm.refuses_to_suspend_main()) return;
  std::string order;
  const Suspension main = loop.suspension();
  loop.defer([&, main] {
    order += 'a';
    main.resume();
  });
  loop.defer([&] { order += 'b'; });
  loop.defer([&] { order += 'c'; });
  main.suspend();
  EXPECT_EQ(order, "a");
  loop.defer([&] { order += 'd'; });
  arm.drive();
  EXPECT_EQ(order, "abcd");
}

}  // namespace
}  // namespace fermata::conformance
