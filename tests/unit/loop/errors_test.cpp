// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/errors.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/loop/loop.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"

namespace fermata::loop {
namespace {

using namespace std::chrono_literals;
using Order = std::vector<std::string>;

template <class Arm>
class LoopErrorsTest : public ::testing::Test {
 protected:
  Order order;
};
TYPED_TEST_SUITE(LoopErrorsTest, conformance::Arms);

TYPED_TEST(LoopErrorsTest, AnErrorLeavesRunAndTheRestIsKept) {
  TypeParam::run([this] {
    Loop loop;
    const CallbackId id = loop.defer([] { throw Timeout("late"); });
    loop.defer([this] { this->order.emplace_back("second"); });
    loop.defer([this] { this->order.emplace_back("third"); });
    try {
      loop.run();
      ADD_FAILURE() << "no error";
    } catch (const UncaughtError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("fermata::Timeout"), std::string::npos) << text;
      EXPECT_NE(text.find("defer callback " + std::to_string(id)), std::string::npos) << text;
      EXPECT_THROW(std::rethrow_exception(error.original()), Timeout);
    }
    EXPECT_TRUE(this->order.empty());
    loop.run();
  });
  EXPECT_EQ(this->order, (Order{"second", "third"}));
}

TYPED_TEST(LoopErrorsTest, TheHandlerGetsTheErrorAndTheTickGoesOn) {
  TypeParam::run([this] {
    Loop loop;
    loop.set_error_handler([&](const std::exception_ptr& error) {
      this->order.push_back(message_of(error));
      fermata::delay(1ms);
      this->order.emplace_back("handled");
    });
    loop.defer([] { throw Timeout("late"); });
    loop.defer([this] { this->order.emplace_back("second"); });
    loop.delay(10ms, [] {});
    loop.run();
  });
  EXPECT_EQ(this->order, (Order{"late", "second", "handled"}));
}

MAIN_TYPED_TEST(LoopErrorsTest, WhatTheHandlerThrowsLeavesRun) {
  Loop loop;
  loop.set_error_handler([](const std::exception_ptr&) { throw Timeout("again"); });
  loop.queue([] { throw Timeout("late"); });
  try {
    loop.run();
    ADD_FAILURE() << "no error";
  } catch (const UncaughtError& error) {
    EXPECT_NE(std::string(error.what()).find("the error handler"), std::string::npos);
  }
  loop.set_error_handler(nullptr);
  EXPECT_FALSE(loop.error_handler());
}

MAIN_TYPED_TEST(LoopErrorsTest, ARepeatThatThrowsStaysEnabled) {
  Loop loop;
  int calls = 0;
  const CallbackId id = loop.repeat(1ms, [&] {
    if (++calls < 3) throw Timeout("late");
  });
  EXPECT_THROW(loop.run(), UncaughtError);
  EXPECT_THROW(loop.run(), UncaughtError);
  EXPECT_TRUE(loop.is_enabled(id));
  loop.delay(50ms, [&] { loop.cancel(id); });
  loop.run();
  EXPECT_GE(calls, 3);
}

TYPED_TEST(LoopErrorsTest, MicrotasksAfterOneThatThrowsAreKept) {
  TypeParam::run([this] {
    Loop loop;
    loop.queue([] { throw Timeout("late"); });
    loop.queue([this] { this->order.emplace_back("second"); });
    EXPECT_THROW(loop.run(), UncaughtError);
    EXPECT_TRUE(this->order.empty());
    loop.run();
  });
  EXPECT_EQ(this->order, Order{"second"});
}

MAIN_TYPED_TEST(LoopErrorsTest, TooManyMicrotasksAreALivelock) {
  Loop loop({.microtask_limit = 100});
  std::function<void()> again = [&] { loop.queue([&] { again(); }); };
  again();
  EXPECT_THROW(loop.run(), LivelockError);
}

MAIN_TYPED_TEST(LoopErrorsTest, TheMicrotaskThatWasOneTooManyIsKept) {
  Loop loop({.microtask_limit = 2});
  int ran = 0;
  for (int i = 0; i < 4; ++i) loop.queue([&] { ++ran; });
  EXPECT_THROW(loop.run(), LivelockError);
  EXPECT_EQ(ran, 2);
  loop.run();
  EXPECT_EQ(ran, 4);
}

MAIN_TYPED_TEST(LoopErrorsTest, MicrotasksThatComeFarApartAreNoLivelock) {
  Loop loop({.microtask_limit = 2});
  int ran = 0;
  spawn([&, alive = loop.keep_alive()]() mutable {
    for (int i = 0; i < 5; ++i) {
      loop.queue([&] { ++ran; });
      fermata::delay(1ms);
    }
    alive.release();
  });
  loop.run();
  EXPECT_EQ(ran, 5);
}

TYPED_TEST(LoopErrorsTest, ACancelledCallerLeavesALoopThatCanRunAgain) {
  TypeParam::run([this] {
    Loop loop;
    loop.delay(10ms, [this] { this->order.emplace_back("delay"); });
    const auto caller = spawn([&] {
      EXPECT_THROW(loop.run(), Cancellation);
      EXPECT_FALSE(loop.is_running());
    });
    fermata::delay(1ms);
    caller.cancel();
    fermata::delay(1ms);
    loop.run();
  });
  EXPECT_EQ(this->order, Order{"delay"});
}

TEST(LoopErrors, ACancelledCallerIsFollowedByAnotherInWhateverOrder) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto strategy = sim::make_strategy("random");
    sim::Decisions decisions(*strategy);
    decisions.begin(seed);
    sim::WorldOptions options;
    options.faults = sim::FaultSet::none();
    sim::World world(decisions, options);
    bool called = false;
    world.node("main", [&] {
      Loop loop;
      loop.delay(10ms, [&] { called = true; });
      const auto caller = spawn([&] { EXPECT_THROW(loop.run(), Cancellation); });
      fermata::delay(1ms);
      caller.cancel();
      while (loop.is_running()) suspend();
      loop.run();
    });
    world.run();
    ASSERT_FALSE(world.failure()) << "seed " << seed << ": " << world.failure()->message;
    ASSERT_TRUE(called);
  }
}

}  // namespace
}  // namespace fermata::loop
