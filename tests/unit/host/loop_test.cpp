// SPDX-License-Identifier: Apache-2.0

// The loop of callbacks in a guest.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/loop/loop.hpp"
#include "tests/support/hosts.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using loop::Loop;

/// The host's code registers callbacks, a coroutine of the guest serves the loop.
template <class Host>
class GuestLoops : public ::testing::Test {
 protected:
  host::Guest& guest() { return host.guest(); }

  void serve(loop::LoopOptions options = {}) {
    options.hosted = true;
    guest().enter([&] { callbacks.emplace(options); });
    guest().spawn("callbacks", [this] {
      callbacks->serve([this] { ++idle; });
      callbacks.reset();
    });
    turn_until([this] { return idle > 0; });
  }

  template <class Condition>
  void turn_until(Condition condition) {
    while (!condition()) host.turn();
  }

  ~GuestLoops() override {
    if (callbacks) guest().enter([this] { callbacks->stop(); });
    turn_until([this] { return !callbacks || guest().is_ended(); });
  }

  Host host;
  std::optional<Loop> callbacks;
  int idle = 0;
};

TYPED_TEST_SUITE(GuestLoops, test::Hosts);

TYPED_TEST(GuestLoops, AreServedWhenTheHostsCodeRegisters) {
  this->serve();
  std::vector<std::string> notes;
  this->guest().enter([&] {
    this->callbacks->delay(2ms, [&] { notes.emplace_back("delay"); });
    this->callbacks->defer([&] { notes.emplace_back("defer"); });
  });
  this->turn_until([&] { return this->idle == 2; });
  EXPECT_EQ(notes, (std::vector<std::string>{"defer", "delay"}));
  EXPECT_TRUE(this->guest().is_ended() || this->callbacks->is_running());
}

TYPED_TEST(GuestLoops, RefuseToBeRun) {
  this->serve();
  EXPECT_THROW(this->guest().enter([&] { this->callbacks->run(); }), UsageError);
  this->guest().enter([&] {
    Loop other({.hosted = true});
    EXPECT_THROW(other.run(), loop::LoopIsHosted);
  });
}

TYPED_TEST(GuestLoops, AreIdleGuestsWhenNothingIsReferenced) {
  this->serve();
  this->guest().enter([&] { this->callbacks->unreference(this->callbacks->delay(1h, [] {})); });
  this->turn_until([&] { return this->guest().is_idle(); });
  EXPECT_EQ(this->callbacks->timer_count(), 1u);
}

TYPED_TEST(GuestLoops, StopWithoutStoppingTheHost) {
  this->serve();
  int ticks = 0;
  this->guest().enter([&] {
    this->callbacks->repeat(1ms, [&] {
      if (++ticks == 3) this->callbacks->stop();
    });
  });
  this->turn_until([&] { return !this->callbacks; });
  EXPECT_EQ(ticks, 3);
  bool ran = false;
  this->guest().spawn("other", [&] {
    delay(5ms);
    ran = true;
  });
  this->turn_until([&] { return ran; });
  EXPECT_EQ(ticks, 3);
}

TYPED_TEST(GuestLoops, LetCallbacksSuspend) {
  this->serve();
  std::vector<std::string> notes;
  this->guest().enter([&] {
    this->callbacks->defer([&] {
      notes.emplace_back("begin");
      delay(2ms);
      notes.emplace_back("end");
    });
    this->callbacks->defer([&] { notes.emplace_back("other"); });
  });
  this->turn_until([&] { return notes.size() == 3; });
  EXPECT_EQ(notes, (std::vector<std::string>{"begin", "other", "end"}));
}

TYPED_TEST(GuestLoops, LetMainSuspendWhereTheHostCanBeTurned) {
  if (!this->guest().can_turn_host()) {
    EXPECT_THROW(this->guest().enter([] {
      Loop other({.hosted = true});
      other.suspension().suspend();
    }),
                 loop::LoopIsHosted);
    return;
  }
  const int value = this->guest().enter([] {
    Loop other({.hosted = true, .host_can_be_turned = true});
    const auto main = other.suspension();
    other.delay(2ms, [&] { main.resume(42); });
    return main.template suspend_for<int>();
  });
  EXPECT_EQ(value, 42);
}

TYPED_TEST(GuestLoops, ReportADeadlockOfMainWhenTheyHaveNothingLeft) {
  if (!this->guest().can_turn_host()) return;
  this->guest().enter([] {
    Loop other({.hosted = true, .host_can_be_turned = true});
    other.delay(1ms, [] {});
    EXPECT_THROW(other.suspension().suspend(), loop::LoopDeadlock);
  });
}

TEST(GuestLoop, GivesTheHostATurnWithinATick) {
  test::PollingHost host({.turn_limit = Duration::zero()});
  constexpr int kCallbacks = 100;
  int called = 0;
  int called_after = -1;
  host.guest().spawn("callbacks", [&] {
    Loop callbacks({.hosted = true, .callbacks_per_turn = 10});
    for (int i = 0; i < kCallbacks; ++i) callbacks.defer([&] { ++called; });
    callbacks.serve([&] { callbacks.stop(); });
    called_after = called;
  });
  int most = 0;
  while (called_after < 0) {
    const int before = called;
    host.turn();
    most = std::max(most, called - before);
  }
  EXPECT_EQ(called_after, kCallbacks);
  EXPECT_LE(most, 20);
}

}  // namespace
}  // namespace fermata
