// SPDX-License-Identifier: Apache-2.0
#include "fermata/host/guest.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/hosts.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using test::TestHost;

/// What a guest does in any host.
template <class Host>
class Guests : public ::testing::Test {};

TYPED_TEST_SUITE(Guests, test::Hosts);

host::GuestOptions quiet() {
  host::GuestOptions options;
  options.runtime.log = [](std::string_view) {};
  return options;
}

TYPED_TEST(Guests, RunCoroutinesAndTimers) {
  TypeParam host;
  std::vector<std::string> notes;
  host.run([&] {
    auto late = spawn("late", [&] {
      delay(4ms);
      notes.emplace_back("late");
    });
    auto early = spawn("early", [&] {
      delay(1ms);
      notes.emplace_back("early");
    });
    const Instant before = now();
    await(late);
    EXPECT_GE(now() - before, 4ms);
    await(early);
  });
  EXPECT_EQ(notes, (std::vector<std::string>{"early", "late"}));
}

TYPED_TEST(Guests, ServeTcp) {
  TypeParam host;
  std::string heard;
  host.run([&] {
    auto listener = TcpListener::bind({"127.0.0.1", 0});
    auto server = spawn("server", [&] {
      auto peer = listener.accept();
      std::array<std::byte, 64> buffer;
      while (const std::size_t size = peer->read(buffer)) {
        peer->write(std::span(buffer).first(size));
      }
    });
    auto client = TcpStream::connect(listener.local_address());
    client.write("hello");
    std::array<std::byte, 5> answer;
    client.read_exact(answer);
    heard.assign(reinterpret_cast<const char*>(answer.data()), answer.size());
    client.close();
    await(server);
  });
  EXPECT_EQ(heard, "hello");
}

TYPED_TEST(Guests, AreWokenByOtherThreads) {
  TypeParam host;
  int fired = 0;
  host.run([&] {
    Trigger trigger;
    std::thread other([&] { trigger.fire(); });
    trigger.wait();
    other.join();
    ++fired;
    EXPECT_EQ(offload([] { return 6 * 7; }), 42);
  });
  EXPECT_EQ(fired, 1);
}

TYPED_TEST(Guests, HearSignals) {
  TypeParam host;
  bool heard = false;
  host.run([&] {
    auto listener = spawn("listener", [&] {
      wait_signal(SIGUSR1);
      heard = true;
    });
    suspend();
    ::raise(SIGUSR1);
    await(listener);
  });
  EXPECT_TRUE(heard);
}

TYPED_TEST(Guests, TellOnceThatTheyAreIdle) {
  int idle = 0;
  auto options = quiet();
  options.on_idle = [&] { ++idle; };
  TypeParam host(std::move(options));
  EXPECT_TRUE(host.guest().is_idle());
  host.run([] { delay(1ms); });
  while (!host.guest().is_idle()) host.turn();
  EXPECT_EQ(idle, 1);
  host.guest().spawn("again", [] {});
  EXPECT_FALSE(host.guest().is_idle());
  while (!host.guest().is_idle()) host.turn();
  EXPECT_EQ(idle, 2);
}

TYPED_TEST(Guests, WaitForTheHostsCodeWithoutADeadlock) {
  TypeParam host;
  std::optional<Promise<int>> promise;
  int seen = 0;
  host.guest().enter([&] { promise.emplace(); });
  host.guest().spawn("waiter", [&] { seen = await(promise->future()); });
  while (!host.guest().is_idle()) host.turn();
  EXPECT_EQ(seen, 0);
  host.guest().enter([&] { promise->complete(7); });
  while (!host.guest().is_idle()) host.turn();
  EXPECT_EQ(seen, 7);
  promise.reset();
}

TYPED_TEST(Guests, AreEnteredAtOnce) {
  TypeParam host;
  EXPECT_EQ(host.guest().enter([] { return current_runtime().name(); }), "guest");
  EXPECT_THROW(host.guest().enter([] { throw std::runtime_error("mine"); }), std::runtime_error);
  EXPECT_THROW(static_cast<void>(current_runtime()), UsageError);
}

TYPED_TEST(Guests, EndGracefully) {
  bool told = false;
  std::string cleaned;
  auto options = quiet();
  options.on_end = [&](const std::exception_ptr& error) {
    told = true;
    EXPECT_FALSE(error);
  };
  TypeParam host(std::move(options));
  host.guest().spawn("sleeper", [&] {
    try {
      delay(1h);
    } catch (const Cancellation&) {
      protect([&] {
        delay(1ms);
        cleaned = "cleaned up";
      });
      throw;
    }
  });
  host.turn();
  host.guest().close();
  while (!host.guest().is_ended()) host.turn();
  EXPECT_TRUE(told);
  EXPECT_EQ(cleaned, "cleaned up");
  EXPECT_THROW(host.guest().spawn("too late", [] {}), UsageError);
}

TYPED_TEST(Guests, EndWithTheErrorThatNobodyHasCaught) {
  TypeParam host(quiet());
  host.guest().spawn("failing", [] { throw std::runtime_error("out of tea"); });
  while (!host.guest().is_ended()) host.turn();
  ASSERT_TRUE(host.guest().error());
  EXPECT_EQ(message_of(host.guest().error()), "out of tea");
}

TYPED_TEST(Guests, AreEndedByForceWhenTheHostStopsEarly) {
  bool unwound = false;
  std::string log;
  {
    host::GuestOptions options;
    options.runtime.log = [&](std::string_view text) { log += text; };
    TypeParam host(std::move(options));
    host.guest().spawn("sleeper", [&] {
      struct Note {
        bool& unwound;
        ~Note() { unwound = true; }
      } const note{unwound};
      delay(1h);
    });
    host.turn();
  }
  EXPECT_TRUE(unwound);
  EXPECT_NE(log.find("1 coroutines have not ended"), std::string::npos) << log;
  EXPECT_NE(log.find("sleeper"), std::string::npos) << log;
}

TYPED_TEST(Guests, GiveTheHostATurnWhileTheyAreBusy) {
  auto options = quiet();
  options.turn_limit = Duration::zero();
  TypeParam host(std::move(options));
  int steps = 0;
  bool enough = false;
  host.guest().spawn("busy", [&] {
    while (!enough) {
      ++steps;
      suspend();
    }
  });
  for (int turns = 0; turns < 20; ++turns) {
    const int before = steps;
    host.turn();
    EXPECT_LE(steps - before, 2 * 61);
    EXPECT_FALSE(host.guest().is_idle());
  }
  EXPECT_GT(steps, 0);
  enough = true;
  while (!host.guest().is_idle()) host.turn();
}

TYPED_TEST(Guests, WatchDescriptors) {
  TypeParam host;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  bool readable = false;
  host.run([&] {
    auto reader = spawn("reader", [&] {
      Descriptor watched(ends[0]);
      watched.wait(PollMask::Readable);
      readable = true;
    });
    suspend();
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
    await(reader);
  });
  EXPECT_TRUE(readable);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace fermata
