// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/loop/event_interface.hpp"
#include "fermata/loop/loop.hpp"
#include "fermata/loop/timer.hpp"
#include "fermata/system/system_calls.hpp"
#include "tests/conformance/uv_arm.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/main_test.hpp"

namespace fermata::loop {
namespace {

using namespace std::chrono_literals;

/// Counts how often the system is asked what a descriptor is.
class CountedFstat {
 public:
  CountedFstat() { count = 0; }
  [[nodiscard]] static int asked() { return count; }

 private:
  static os::SystemCalls counting() {
    os::SystemCalls calls;
    calls.fstat = [](int descriptor, struct stat* status) {
      ++count;
      return ::fstat(descriptor, status);
    };
    return calls;
  }

  static inline int count = 0;
  os::ReplacedKernel replaced_{counting()};
};

class LoopDescriptorsTest : public ::testing::Test, protected conformance::UvArm {
 protected:
  LoopDescriptorsTest() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  }
  ~LoopDescriptorsTest() override {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  void write_byte() { EXPECT_EQ(::write(ends[1], "x", 1), 1); }
  void close_other() { ::close(std::exchange(ends[1], -1)); }

  std::array<int, 2> ends{-1, -1};
};

MAIN_TEST_F(LoopDescriptorsTest, CallsAReadableInEachTickUntilItIsRead) {
  Loop loop;
  write_byte();
  int calls = 0;
  loop.on_readable(ends[0], [&](CallbackId id, int descriptor) {
    EXPECT_EQ(descriptor, ends[0]);
    if (++calls == 3) loop.cancel(id);
  });
  loop.run();
  EXPECT_EQ(calls, 3);
}

// Besides, the watched descriptors are looked after, at most every ten milliseconds.
MAIN_TEST_F(LoopDescriptorsTest, AsksOnceForEachCallWhetherTheFileIsTheSame) {
  constexpr int kCalls = 1'000;
  Loop loop;
  write_byte();
  const CountedFstat fstat;
  int calls = 0;
  loop.on_readable(ends[0], [&](CallbackId id) {
    if (++calls == kCalls) loop.cancel(id);
  });
  loop.run();
  EXPECT_GE(fstat.asked(), kCalls);
  EXPECT_LT(fstat.asked(), kCalls * 3 / 2);
}

// The system goes on watching the old file, of which there is a copy.
MAIN_TEST_F(LoopDescriptorsTest, WhatComesForAnOldFileCallsNobody) {
  for (const bool new_one_is_ready : {false, true}) {
    Loop loop;
    const int number = ::dup(ends[0]);
    std::array<int, 2> others{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, others.data()), 0);
    const CallbackId id = loop.on_readable(number, [] { ADD_FAILURE(); });
    loop.delay(1ms, [&] {  // The next look at closed descriptors is ten milliseconds away.
      ASSERT_EQ(::dup2(others[0], number), number);
      if (new_one_is_ready) {
        ASSERT_EQ(::write(others[1], "x", 1), 1);
      }
      write_byte();
    });
    const std::string error = test::error_of([&] { loop.run(); });
    EXPECT_NE(error.find("it was closed"), std::string::npos) << error;
    EXPECT_FALSE(loop.has(id));
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    for (const int each : {number, others[0], others[1]}) ::close(each);
  }
}

MAIN_TEST_F(LoopDescriptorsTest, OneDirectionDisabledDoesNotSilenceTheOther) {
  Loop loop;
  write_byte();
  int writable = 0;
  const CallbackId readable = loop.on_readable(ends[0], [] { ADD_FAILURE(); });
  loop.on_writable(ends[0], [&](CallbackId id) {
    if (++writable == 2) loop.cancel(id);
  });
  loop.disable(readable);
  loop.run();
  EXPECT_EQ(writable, 2);
}

MAIN_TEST_F(LoopDescriptorsTest, AHangUpCallsBothDirectionsInEachTick) {
  Loop loop;
  int readable = 0;
  int writable = 0;
  loop.on_readable(ends[0], [&](CallbackId id) {
    if (++readable == 3) loop.cancel(id);
  });
  loop.on_writable(ends[0], [&](CallbackId id) {
    if (++writable == 3) loop.cancel(id);
  });
  close_other();
  loop.run();
  EXPECT_EQ(readable, 3);
  EXPECT_EQ(writable, 3);
}

MAIN_TEST_F(LoopDescriptorsTest, MasksADescriptorWhileItsCallIsSuspended) {
  Loop loop;
  write_byte();
  int calls = 0;
  loop.on_readable(ends[0], [&](CallbackId id) {
    if (++calls == 2) loop.cancel(id);
    const int before = calls;
    fermata::delay(5ms);
    EXPECT_EQ(calls, before);
  });
  loop.run();
  EXPECT_EQ(calls, 2);
}

MAIN_TEST_F(LoopDescriptorsTest, IsNotActivityWhileNobodyRunsTheLoop) {
  Loop loop;
  int calls = 0;
  loop.on_readable(ends[0], [&](CallbackId id) {
    ++calls;
    loop.cancel(id);
  });
  loop.delay(1ms, [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(loop.runtime().active_event_count(), 0u);
  write_byte();
  loop.run();
  EXPECT_EQ(calls, 1);
}

MAIN_TEST_F(LoopDescriptorsTest, RefusesWhatCannotBeWatched) {
  Loop loop;
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  EXPECT_THROW(loop.on_readable(file, [] {}), PollError);
  ::close(file);
  EXPECT_THROW(loop.on_writable(file, [] {}), PollError);
  EXPECT_TRUE(loop.identifiers().empty());
  loop.run();
}

MAIN_TEST_F(LoopDescriptorsTest, ADescriptorClosedBeforeItsActivationFailsItsCallbackOnly) {
  Loop loop;
  int other = 0;
  const CallbackId id = loop.on_readable(ends[1], [] { ADD_FAILURE(); });
  loop.defer([&] { ++other; });
  close_other();
  try {
    loop.run();
    ADD_FAILURE() << "no error";
  } catch (const UncaughtError& error) {
    EXPECT_NE(std::string(error.what()).find("the activation of readable callback"),
              std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(loop.has(id));
  loop.run();
  EXPECT_EQ(other, 1);
}

MAIN_TEST_F(LoopDescriptorsTest, TheFacadeReplacesWhatIsReady) {
  Loop loop;
  EventInterface events(loop);
  write_byte();
  std::vector<std::string> calls;
  loop.on_writable(ends[0], [&](CallbackId id) {
    loop.cancel(id);
    events.on_readable(ends[0], [&] {
      calls.emplace_back("second");
      EXPECT_TRUE(events.off_readable(ends[0]));
      EXPECT_FALSE(events.off_readable(ends[0]));
    });
  });
  events.on_readable(ends[0], [&] { calls.emplace_back("first"); });
  events.run();
  EXPECT_EQ(calls, std::vector<std::string>{"second"});
}

MAIN_TEST_F(LoopDescriptorsTest, TheFacadeCountsTimers) {
  Loop loop;
  EventInterface events(loop);
  const TimerId repeat = events.repeat(1h, [] {});
  const TimerId delay = Timer::delay(1ms, [&](TimerId id) {
    EXPECT_FALSE(Timer::del(id));
    EXPECT_EQ(events.get_timer_count(), 1u);
    EXPECT_TRUE(events.off_delay(repeat));
    EXPECT_FALSE(events.off_repeat(repeat));
  });
  EXPECT_GT(repeat, 0u);
  EXPECT_NE(repeat, delay);
  EXPECT_EQ(events.get_timer_count(), 2u);
  events.run();
  events.delay(1h, [] { ADD_FAILURE(); });
  events.repeat(0, [&] {
    events.delete_all_timer();
    EXPECT_EQ(events.get_timer_count(), 0u);
  });
  events.run();
}

MAIN_TEST_F(LoopDescriptorsTest, AHandlerThatCancelsItselfMayUseItsCaptures) {
  Loop loop;
  const auto text = std::make_shared<std::string>("still there");
  std::string seen;
  loop.on_writable(ends[0], [&loop, &seen, held = std::string(*text)](CallbackId id) {
    loop.cancel(id);
    fermata::delay(1ms);
    seen = held;
  });
  EXPECT_EQ(loop.run().suspended, 1u);
  fermata::delay(5ms);
  EXPECT_EQ(seen, *text);
}

}  // namespace
}  // namespace fermata::loop
