// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/host/guest.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/hosts.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::PollingHost;

TEST(Guest, IsIdleAtFirstHoweverShortItsTurns) {
  PollingHost host({.turn_limit = Duration::zero()});
  EXPECT_TRUE(host.guest().is_idle());
  EXPECT_FALSE(host.is_ready());
}

TEST(Guest, WantsToBePumpedOnlyWhenThereIsSomethingToDo) {
  PollingHost host({.turn_limit = 1h});
  EXPECT_FALSE(host.is_ready());
  host.guest().pump();  // Harmless.
  EXPECT_TRUE(host.guest().is_idle());
  const int descriptor = host.guest().descriptor();
  bool ran = false;
  host.guest().spawn("one", [&] { ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_TRUE(host.is_ready());
  host.guest().pump();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(host.is_ready());
  host.guest().spawn("sleeper", [] { delay(1h); });
  host.guest().pump();
  EXPECT_FALSE(host.guest().is_idle());
  EXPECT_FALSE(host.is_ready());
  EXPECT_EQ(host.guest().descriptor(), descriptor);
  host.guest().close();
  while (!host.guest().is_ended()) host.turn();
  EXPECT_FALSE(host.is_ready());
}

TEST(Guest, ReturnsWhatItsVisitorReturns) {
  PollingHost host;
  EXPECT_EQ(host.guest().enter([] { return std::string("hello"); }), "hello");
  while (!host.guest().is_idle()) host.turn();
  bool ran = false;
  host.guest().enter([&] { spawn("next", [&] { ran = true; }); });
  EXPECT_FALSE(ran);
  EXPECT_FALSE(host.guest().is_idle());
  host.turn();
  EXPECT_TRUE(ran);
}

TEST(Guest, RefusesVisitorsThatWaitWhenTheHostCannotBeTurned) {
  PollingHost host;
  EXPECT_NE(error_of([&] { host.guest().enter([] { delay(1ms); }); }).find("must not suspend"),
            std::string::npos);
  EXPECT_EQ(host.guest().enter([] { return 7; }), 7);
}

TEST(Guest, MayBeBusyWhenItIsEntered) {
  PollingHost host({.turn_limit = Duration::zero()});
  bool enough = false;
  int steps = 0;
  for (int i = 0; i < 100; ++i) {
    host.guest().spawn("busy", [&] {
      while (!enough) {
        ++steps;
        suspend();
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    host.turn();
    EXPECT_EQ(host.guest().enter([&] { return i; }), i);
  }
  EXPECT_GT(steps, 0);
  enough = true;
  while (!host.guest().is_idle()) host.turn();
}

TEST(Guest, RefusesCallsFromItsOwnCodeAndFromOtherThreads) {
  PollingHost host;
  auto& guest = host.guest();
  host.run([&] {
    EXPECT_EQ(error_of([&] { guest.pump(); }),
              "pump: called by guest 'guest' itself, expected its host");
    EXPECT_EQ(error_of([&] { guest.enter([] {}); }),
              "enter: called by guest 'guest' itself, expected its host");
    bool ran = false;
    await(guest.spawn("inside", [&] { ran = true; }));
    EXPECT_TRUE(ran);
  });
  std::thread([&] {
    for (const auto& call : {std::function<void()>([&] { guest.pump(); }),
                             std::function<void()>([&] { guest.spawn("other", [] {}); }),
                             std::function<void()>([&] { guest.enter([] {}); })}) {
      EXPECT_NE(error_of(call).find("guest 'guest' lives on the thread that made it"),
                std::string::npos);
    }
  }).join();
}

TEST(Guest, RefusesCallsWhenItHasEnded) {
  PollingHost host;
  host.guest().close();
  EXPECT_NE(error_of([&] { host.guest().enter([] {}); }), "no error");
  while (!host.guest().is_ended()) host.turn();
  EXPECT_EQ(error_of([&] { host.guest().enter([] {}); }), "enter: guest 'guest' has ended");
  EXPECT_EQ(error_of([&] { host.guest().spawn("late", [] {}); }), "spawn: guest 'guest' has ended");
  host.guest().close();
  host.guest().pump();
}

TEST(Guest, EndsWithWhatOnIdleThrows) {
  host::GuestOptions options;
  options.on_idle = [] { throw std::runtime_error("no idling"); };
  PollingHost host(std::move(options));
  host.guest().spawn("one", [] {});
  while (!host.guest().is_ended()) host.turn();
  ASSERT_TRUE(host.guest().error());
  EXPECT_EQ(message_of(host.guest().error()), "no idling");
}

TEST(Guest, LeavesStopSignalsToTheHost) {
  struct sigaction before = {};
  ::sigaction(SIGTERM, nullptr, &before);
  PollingHost host;
  struct sigaction now = {};
  ::sigaction(SIGTERM, nullptr, &now);
  EXPECT_EQ(now.sa_handler, before.sa_handler);
}

TEST(Guest, EndsOnStopSignalsIfItIsToldTo) {
  host::GuestOptions options;
  options.handle_stop_signals = true;
  PollingHost host(std::move(options));
  bool cancelled = false;
  host.guest().spawn("sleeper", [&] {
    try {
      delay(1h);
    } catch (const Cancellation&) {
      cancelled = true;
      throw;
    }
  });
  host.turn();
  ::raise(SIGTERM);
  while (!host.guest().is_ended()) host.turn();
  EXPECT_TRUE(cancelled);
}

TEST(Guest, KeepsItsExceptionsToItself) {
  PollingHost host;
  int seen = 0;
  host.guest().spawn("catching", [&] {
    try {
      throw 5;
    } catch (...) {
      delay(1ms);
      try {
        throw;
      } catch (int value) {
        seen = value;
      }
    }
  });
  try {
    throw std::string("the host's");
  } catch (...) {
    while (!host.guest().is_idle()) host.turn();
    EXPECT_THROW(throw, std::string);
  }
  EXPECT_EQ(seen, 5);
}

TEST(Guest, SurvivesDescriptorsThatAreClosedBehindItsBack) {
  PollingHost host;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  bool told = false;
  host.guest().spawn("reader", [&] {
    Descriptor watched(ends[0]);
    try {
      watched.wait_readable();
    } catch (const PollError&) {
    }
    told = true;
  });
  host.turn();
  const int duplicate = ::dup(ends[0]);
  ::close(ends[0]);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);  // The kernel tells of it forever.
  host.guest().spawn("other", [] { delay(1ms); });
  while (!told) host.turn();
  int turns = 0;
  while (!host.guest().is_idle()) {
    host.turn();
    ASSERT_LT(++turns, 1000);
  }
  EXPECT_FALSE(host.is_ready());
  host.run([] { delay(1ms); });
  ::close(duplicate);
  ::close(ends[1]);
}

TEST(Guest, LivesInsideAnotherGuest) {
  PollingHost outer;
  std::vector<std::string> ended;
  outer.run([&] {
    PollingHost inner;
    inner.run([&] {
      delay(1ms);
      ended.emplace_back("inner");
    });
    delay(1ms);
    ended.emplace_back("outer");
  });
  EXPECT_EQ(ended, (std::vector<std::string>{"inner", "outer"}));
}

TEST(Guest, LeavesNoDescriptorBehind) {
  { const PollingHost host; }
  const int before = ::dup(0);
  ::close(before);
  for (int i = 0; i < 3; ++i) {
    PollingHost host;
    host.run([] { delay(1ms); });
  }
  const int after = ::dup(0);
  ::close(after);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace fermata
