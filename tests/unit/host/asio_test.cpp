// SPDX-License-Identifier: Apache-2.0
#ifdef FERMATA_HAS_ASIO

#include "fermata/host/asio.hpp"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <thread>

#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using boost::asio::io_context;
using host::AsioGuest;

TEST(AsioGuest, KeepsTheContextForAsLongAsItHasSomethingToDo) {
  io_context context;
  AsioGuest guest(context);
  EXPECT_FALSE(context.stopped());
  int done = 0;
  guest.spawn("one", [&] {
    delay(2ms);
    ++done;
  });
  context.run();
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(guest.is_idle());
  guest.enter([&] { spawn("two", [&] { ++done; }); });
  context.restart();
  context.run();
  EXPECT_EQ(done, 2);
}

TEST(AsioGuest, DoesNotStopAContextThatHasNotRunYet) {
  io_context context;
  AsioGuest guest(context);
  EXPECT_EQ(guest.enter([] { return 7; }), 7);
  EXPECT_FALSE(context.stopped());
  bool ran = false;
  boost::asio::post(context, [&] { ran = true; });
  context.run();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(guest.is_idle());
}

TEST(AsioGuest, RunsOnWhileItIsIdleAndTheContextIsNot) {
  io_context context;
  AsioGuest guest(context);
  guest.spawn("once", [] {});
  boost::asio::steady_timer timer(context, 5ms);
  bool told = false;
  int ran = 0;
  timer.async_wait([&](const boost::system::error_code&) {
    told = true;
    EXPECT_TRUE(guest.is_idle());
    guest.spawn("again", [&] {
      delay(1ms);
      ++ran;
    });
  });
  context.run();
  EXPECT_TRUE(told);
  EXPECT_EQ(ran, 1);
}

TEST(AsioGuest, TurnsTheContextWhileAVisitorWaits) {
  io_context context;
  AsioGuest guest(context);
  bool posted = false;
  boost::asio::post(context, [&] { posted = true; });
  const int answer = guest.enter([] {
    delay(2ms);
    return 42;
  });
  EXPECT_EQ(answer, 42);
  EXPECT_TRUE(posted);
  EXPECT_EQ(guest.enter([] {
    delay(1ms);
    return 43;
  }),
            43);
}

TEST(AsioGuest, TellsAVisitorThatNothingWillWakeIt) {
  io_context context;
  AsioGuest guest(context);
  bool unwound = false;
  EXPECT_THROW(guest.enter([&] {
    const Promise<> never;
    try {
      await(never.future());
    } catch (const Cancellation&) {
      unwound = true;
      throw;
    }
  }),
               DeadlockError);
  EXPECT_TRUE(unwound);
  EXPECT_EQ(guest.enter([] { return 7; }), 7);
}

TEST(AsioGuest, OutlivesItsContext) {
  std::optional<io_context> context(std::in_place);
  auto guest = std::make_unique<AsioGuest>(*context, [] {
    host::GuestOptions options;
    options.runtime.log = [](std::string_view) {};
    return options;
  }());
  bool unwound = false;
  guest->spawn("sleeper", [&] {
    struct Note {
      bool& unwound;
      ~Note() { unwound = true; }
    } const note{unwound};
    delay(1h);
  });
  context->poll();
  context.reset();
  EXPECT_FALSE(unwound);
  EXPECT_FALSE(guest->can_turn_host());
  guest.reset();
  EXPECT_TRUE(unwound);
}

TEST(AsioGuest, MayGoBeforeItsContextRuns) {
  io_context context;
  {
    AsioGuest guest(context);
    guest.spawn("never", [] {});
  }
  bool ran = false;
  boost::asio::post(context, [&] { ran = true; });
  context.run();
  EXPECT_TRUE(ran);
}

TEST(AsioGuest, MayGoWhileItIsIdle) {
  io_context context;
  auto work = boost::asio::make_work_guard(context);
  {
    AsioGuest guest(context);
    guest.spawn("once", [] {});
    while (!guest.is_idle()) context.run_one();
  }
  work.reset();
  context.run();
  EXPECT_TRUE(context.stopped());
}

TEST(AsioGuest, RefusesToBePumpedOnAnotherThread) {
  io_context context;
  AsioGuest guest(context);
  guest.spawn("one", [] {});
  std::thread([&] { EXPECT_THROW(context.run(), UsageError); }).join();
}

}  // namespace
}  // namespace fermata

#endif
