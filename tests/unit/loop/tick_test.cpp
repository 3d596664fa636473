// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/loop/loop.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"

namespace fermata::loop {
namespace {

using namespace std::chrono_literals;

template <class Arm>
class LoopTickTest : public ::testing::Test {
 protected:
  std::vector<std::string> order;

  auto note(const char* what) {
    return [this, what] { order.emplace_back(what); };
  }
  using Order = std::vector<std::string>;
};
TYPED_TEST_SUITE(LoopTickTest, conformance::Arms);

TYPED_TEST(LoopTickTest, CallsDefersBeforeTimersAndTimersByDeadline) {
  TypeParam::run([this] {
    Loop loop;
    loop.delay(2ms, this->note("two"));
    loop.delay(1ms, this->note("one"));
    loop.defer(this->note("defer"));
    loop.delay(1ms, this->note("one again"));
    const RunReport report = loop.run();
    EXPECT_FALSE(report.stopped);
    EXPECT_EQ(report.suspended, 0u);
    EXPECT_TRUE(loop.identifiers().empty());
  });
  EXPECT_EQ(this->order, (std::vector<std::string>{"defer", "one", "one again", "two"}));
}

TYPED_TEST(LoopTickTest, RunsMicrotasksAtTheEntryAndAfterEachCallback) {
  TypeParam::run([this] {
    Loop loop;
    loop.defer([&] {
      this->order.emplace_back("first");
      loop.queue(this->note("its microtask"));
      loop.defer(this->note("next tick"));
    });
    loop.defer(this->note("second"));
    loop.queue(this->note("entry"));
    loop.run();
  });
  EXPECT_EQ(this->order,
            (std::vector<std::string>{"entry", "first", "its microtask", "second", "next tick"}));
}

TYPED_TEST(LoopTickTest, DoesNotCallWhatIsRegisteredInTheTickThatStops) {
  TypeParam::run([this] {
    Loop loop;
    loop.defer([&] {
      loop.stop();
      loop.defer(this->note("later"));
    });
    loop.defer(this->note("sibling"));
    EXPECT_TRUE(loop.run().stopped);
    EXPECT_EQ(this->order, std::vector<std::string>{"sibling"});
    EXPECT_FALSE(loop.run().stopped);
    EXPECT_EQ(this->order.back(), "later");
  });
}

TYPED_TEST(LoopTickTest, StopBeforeTheRunHasNoEffect) {
  TypeParam::run([this] {
    Loop loop;
    loop.stop();
    loop.defer(this->note("defer"));
    EXPECT_FALSE(loop.run().stopped);
  });
  EXPECT_EQ(this->order, std::vector<std::string>{"defer"});
}

MAIN_TYPED_TEST(LoopTickTest, CountsATimerFromItsRegistration) {
  Loop loop;
  const Instant made = now();
  Instant fired;
  loop.delay(20ms, [&] { fired = now(); });
  fermata::delay(10ms);
  loop.run();
  EXPECT_GE(fired - made, 20ms);
  EXPECT_TRUE(TypeParam::kReal || fired - made == 20ms);
}

MAIN_TYPED_TEST(LoopTickTest, RepeatsUntilCancelledByItself) {
  Loop loop;
  int calls = 0;
  loop.repeat(0, [&](CallbackId id) {
    if (++calls == 10) loop.cancel(id);
  });
  loop.run();
  EXPECT_EQ(calls, 10);
  EXPECT_EQ(loop.timer_count(), 0u);
}

TYPED_TEST(LoopTickTest, DoesNotCallWhatASiblingDisables) {
  TypeParam::run([this] {
    Loop loop;
    CallbackId second = 0;
    loop.delay(1ms, [&] {
      loop.disable(second);
      loop.enable(second);
      loop.cancel(second);
    });
    second = loop.delay(1ms, this->note("sibling"));
    loop.run();
  });
  EXPECT_TRUE(this->order.empty());
}

TYPED_TEST(LoopTickTest, IsNotKeptAliveByWhatIsNotReferenced) {
  TypeParam::run([this] {
    Loop loop;
    loop.unreference(loop.defer(this->note("defer")));
    loop.unreference(loop.delay(1h, this->note("delay")));
    loop.run();
    EXPECT_TRUE(this->order.empty());
    loop.unreference(loop.delay(1ms, this->note("short")));
    loop.delay(3ms, this->note("keeper"));
    loop.run();
  });
  EXPECT_EQ(this->order, (std::vector<std::string>{"defer", "short", "keeper"}));
}

TYPED_TEST(LoopTickTest, IsKeptAliveByAGuard) {
  TypeParam::run([this] {
    Loop loop;
    KeepAlive guard = loop.keep_alive();
    loop.unreference(loop.delay(1ms, [&] {
      this->order.emplace_back("delay");
      guard.release();
    }));
    loop.run();
  });
  EXPECT_EQ(this->order, std::vector<std::string>{"delay"});
}

TYPED_TEST(LoopTickTest, AGuardMayOutliveItsRuntime) {
  KeepAlive guard;
  KeepAlive other;
  const auto held = std::make_shared<int>();
  TypeParam::run([&] {
    Loop loop;
    loop.delay(1h, [held] {});
    guard = loop.keep_alive();
    other = loop.keep_alive();
  });
  EXPECT_EQ(held.use_count(), 1) << "a guard keeps callbacks alive";
  guard.release();
}

TYPED_TEST(LoopTickTest, WaitsForWhatOtherCoroutinesRegister) {
  TypeParam::run([this] {
    Loop loop;
    KeepAlive guard = loop.keep_alive();
    spawn([&] {
      fermata::delay(2ms);
      loop.defer([&] {
        this->order.emplace_back("defer");
        guard.release();
      });
    });
    loop.run();
  });
  EXPECT_EQ(this->order, std::vector<std::string>{"defer"});
}

TYPED_TEST(LoopTickTest, NeverFiresAnEndlessTimer) {
  TypeParam::run([this] {
    Loop loop;
    loop.delay(std::chrono::hours::max(), this->note("endless"));
    loop.repeat(1e300, this->note("endless"));
    loop.delay(2ms, [&] { loop.stop(); });
    loop.run();
  });
  EXPECT_TRUE(this->order.empty());
}

MAIN_TYPED_TEST(LoopTickTest, CallsANoticeOnceForSeveral) {
  Loop loop;
  int calls = 0;
  const CallbackId id = loop.on_notice([&](CallbackId me) {
    if (++calls == 2) loop.cancel(me);
  });
  loop.defer([&] {
    loop.notice(id);
    loop.notice(id);
  });
  loop.delay(2ms, [&] { loop.notice(id); });
  loop.run();
  EXPECT_EQ(calls, 2);
}

TYPED_TEST(LoopTickTest, DeliversSignals) {
  TypeParam::run([this] {
    Loop loop;
    const CallbackId dropped = loop.on_signal(SIGUSR1, this->note("dropped"));
    loop.on_signal(SIGUSR1, [&](CallbackId id, int signum) {
      EXPECT_EQ(signum, SIGUSR1);
      EXPECT_GE(loop.signal_count(id), 1u);
      this->order.emplace_back("signal");
      loop.cancel(id);
    });
    loop.delay(1ms, [&] {
      loop.cancel(dropped);
      TypeParam::raise(SIGUSR1);
    });
    loop.run();
  });
  EXPECT_EQ(this->order, std::vector<std::string>{"signal"});
}

TYPED_TEST(LoopTickTest, TakesTasksOfOtherThreads) {
  TypeParam::run([this] {
    Loop loop;
    KeepAlive guard = loop.keep_alive();
    spawn([&] {
      fermata::delay(1ms);
      loop.post([&] {
        this->order.emplace_back("posted");
        guard.release();
      });
    });
    loop.run();
  });
  EXPECT_EQ(this->order, std::vector<std::string>{"posted"});
}

MAIN_TYPED_TEST(LoopTickTest, RefusesWhatIsWrong) {
  Loop loop;
  EXPECT_THROW(loop.delay(-1.0, [] {}), UsageError);
  EXPECT_THROW(loop.repeat(-1ns, [] {}), UsageError);
  EXPECT_THROW(loop.delay(std::numeric_limits<double>::quiet_NaN(), [] {}), UsageError);
  EXPECT_THROW(loop.on_signal(SIGKILL, [] {}), UsageError);
  EXPECT_THROW(loop.defer(TimedFunction()), UsageError);
  EXPECT_THROW(loop.enable(7), InvalidCallback);
  EXPECT_THROW(loop.reference(7), InvalidCallback);
  EXPECT_THROW(static_cast<void>(loop.is_enabled(7)), InvalidCallback);
  loop.disable(7);
  loop.unreference(7);
  EXPECT_FALSE(loop.cancel(7));
  loop.defer([&] { EXPECT_THROW(loop.run(), AlreadyRunning); });
  loop.run();
}

TYPED_TEST(LoopTickTest, ServesAHostUntilItIsStopped) {
  TypeParam::run([this] {
    Loop loop({.hosted = true});
    EXPECT_THROW(loop.run(), LoopIsHosted);
    spawn([&] {
      fermata::delay(1ms);
      loop.defer(this->note("defer"));
      fermata::delay(1ms);
      loop.stop();
    });
    int idle = 0;
    EXPECT_TRUE(loop.serve([&] { ++idle; }).stopped);
    EXPECT_EQ(idle, 2);
  });
  EXPECT_EQ(this->order, std::vector<std::string>{"defer"});
}

MAIN_TYPED_TEST(LoopTickTest, WhatATimersFunctionHoldsMayCancelTheNextWhenAllAreCancelled) {
  Loop loop;
  struct Holder {
    Holder(Loop& of, CallbackId& cancelled) : loop(of), id(cancelled) {}
    ~Holder() { loop.cancel(id); }
    Loop& loop;
    CallbackId& id;
  };
  CallbackId next = 0;
  loop.delay(1ms, [holder = std::make_unique<Holder>(loop, next)] {});
  next = loop.delay(1ms, [] {});
  const CallbackId last = loop.delay(1ms, [] {});
  loop.cancel_timers();
  EXPECT_EQ(loop.timer_count(), 0u);
  EXPECT_FALSE(loop.has(last));
}

}  // namespace
}  // namespace fermata::loop
