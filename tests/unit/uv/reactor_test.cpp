// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/reactor.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/base/sanitizer.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/uv_arm.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/open_descriptors.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using conformance::UvArm;
using test::open_descriptors;

class UvReactor : public ::testing::Test, protected UvArm {};

/// Work that takes time without giving up control.
void busy(Duration span) {
  const Instant end = now() + span;
  while (now() < end) {
  }
}

TEST_F(UvReactor, IsTurnedByABusyRuntimeOnlyAfterItsSpacing) {
  Runtime runtime(uv::make_reactor());
  runtime.run([&runtime] {
    const auto other = spawn("other", [] {
      for (int i = 0; i < 100'000; ++i) suspend();
    });
    const std::uint64_t polls = runtime.metrics().polls;
    const Instant begin = now();
    for (int i = 0; i < 100'000; ++i) suspend();
    const auto spacings = (now() - begin) / runtime.reactor().turn_spacing();
    EXPECT_GT(runtime.metrics().polls, polls);
    EXPECT_LE(runtime.metrics().polls - polls, static_cast<std::uint64_t>(spacings) + 2);
    await(other);
  });
}

TEST_F(UvReactor, IsTurnedOnTheStackOfTheLoop) {
  Runtime runtime(uv::make_reactor());
  runtime.run([&runtime] {
    const auto other = spawn("other", [&runtime] {
      const std::uint64_t enough = runtime.metrics().polls + 10;
      while (runtime.metrics().polls < enough) suspend();
    });
    const auto busy = spawn("busy", [&runtime, &other] {
      constexpr std::size_t kTwoPages = 8 * 1024;
      while (!other->is_closed()) suspend();
      EXPECT_LE(runtime.scheduler().stack_high_water(*runtime.current()), kTwoPages);
    });
    await(busy);
  });
}

TEST_F(UvReactor, LeavesNoDescriptorBehind) {
  FERMATA_CHECKS("RX-04", "CLOSE-03", "CORE-EV-10");
  { const Runtime first(uv::make_reactor()); }  // libuv keeps two descriptors for the process.
  const auto before = open_descriptors();
  for (int i = 0; i < 3; ++i) {
    Runtime runtime(uv::make_reactor());
    for (int again = 0; again < 2; ++again) {
      runtime.run([] {
        auto listener = TcpListener::bind({"127.0.0.1", 0});
        auto client = TcpStream::connect(listener.local_address());
        auto server = listener.accept();
        Ref<backend::StreamHandle> leaked = Ref<backend::StreamHandle>::share(client.handle());
      });
      EXPECT_EQ(runtime.active_event_count(), 0u);
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(UvReactor, NamesWhatIsLeftOpenAndWhereItWasMade) {
  FERMATA_CHECKS("RX-04");
  std::vector<std::string> log;
  Runtime runtime(uv::make_reactor(), {.handle_stop_signals = false,
                                       .log = [&](auto text) { log.emplace_back(text); }});
  std::optional<TcpListener> kept;
  std::int64_t line = 0;
  runtime.run([&] {
    const TcpListener closed_in_time = TcpListener::bind({"127.0.0.1", 0});
    line = SourcePlace::current().line + 1;
    kept = TcpListener::bind({"127.0.0.1", 0});
  });
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].substr(0, log[0].find('#')), "left open at the end of the run: Listener ");
  const std::string place = fmt::format(", made at tests/unit/uv/reactor_test.cpp:{} ", line);
  EXPECT_NE(log[0].find(place), std::string::npos) << log[0];
  EXPECT_FALSE(kept->is_open());
}

MAIN_TEST_F(UvReactor, SleepsToTheNanosecondAndNeverLess) {
  FERMATA_CHECKS("TMR-01");
  for (const Duration span : {Duration(1), Duration(50us), Duration(1500us), Duration(3ms)}) {
    const Instant began = now();
    delay(span);
    EXPECT_GE(now() - began, span);
  }
}

TEST_F(UvReactor, BlocksOnlyWhenNobodyIsReadyAndSomethingIsAwaited) {
  FERMATA_CHECKS("RX-02", "RX-03");
  Runtime runtime(uv::make_reactor(), {.log = [](std::string_view) {}});
  const auto blocked = [&] { return runtime.metrics().blocking_polls; };
  const auto body = [&] {
    for (int i = 0; i < 1000; ++i) suspend();
    EXPECT_EQ(blocked(), 0u);
    const auto never = test::make_event<test::PlainEvent>(runtime);
    EXPECT_THROW(wait(*never), Cancellation);
    EXPECT_EQ(blocked(), 0u);
    delay(1ms);
    EXPECT_GT(blocked(), 0u);
  };
  EXPECT_THROW(runtime.run(body), DeadlockError);
}

MAIN_TEST_F(UvReactor, ABlockingTurnCostsNoProcessorTime) {
  const std::clock_t before = std::clock();
  delay(100ms);
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 50);
  EXPECT_LT(current_runtime().metrics().polls, 10u);
}

MAIN_TEST_F(UvReactor, TimersFireAheadOfInputThatCameInTheSameTurn) {
  auto listener = TcpListener::bind({"127.0.0.1", 0});
  auto client = TcpStream::connect(listener.local_address());
  auto server = listener.accept();
  std::vector<std::string> order;
  std::array<std::byte, 8> buffer;
  backend::ReadRequest request(server->handle(), buffer);
  Timer timer(current_runtime(), 1ms);
  const Subscription on_read =
      subscribe(request, [&](Event&, const Outcome&) { order.emplace_back("input"); });
  const Subscription on_timer =
      subscribe(timer, [&](Event&, const Outcome&) { order.emplace_back("timer"); });
  suspend();
  timer.start();
  client.write("x");
  busy(3ms);
  wait(request);
  EXPECT_EQ(order, (std::vector<std::string>{"timer", "input"}));
  EXPECT_EQ(request.take(), 1u);
}

MAIN_TEST_F(UvReactor, ATimerMayCloseTheStreamWhoseInputComesNext) {
  FERMATA_CHECKS("CLOSE-02", "IO-07");
  auto listener = TcpListener::bind({"127.0.0.1", 0});
  auto client = TcpStream::connect(listener.local_address());
  auto server = listener.accept();
  std::array<std::byte, 8> buffer{};
  const backend::ReadRequest request(server->handle(), buffer);
  Timer timer(current_runtime(), 1ms);
  const Subscription on_timer = subscribe(timer, [&](Event&, const Outcome&) { server->close(); });
  suspend();
  timer.start();
  client.write("x");
  busy(3ms);
  wait(timer);
  EXPECT_EQ(message_of(request.error()), "Stream was closed");
  EXPECT_EQ(buffer[0], std::byte{0});
  delay(2ms);
}

MAIN_TEST_F(UvReactor, ATriggerIsFiredFromManyThreadsAndNoItemIsMissed) {
  FERMATA_CHECKS("THR-03");
  constexpr int kThreads = 4;
  constexpr int kItems = 5000;
  Trigger trigger;
  std::atomic<int> items = 0;
  std::vector<std::thread> producers;
  for (int i = 0; i < kThreads; ++i) {
    producers.emplace_back([&] {
      for (int k = 0; k < kItems; ++k) {
        ++items;
        trigger.fire();
      }
    });
  }
  int seen = 0;
  while (seen < kThreads * kItems) {
    trigger.wait({.timeout = 10s});
    seen = items;
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(seen, kThreads * kItems);
}

MAIN_TEST_F(UvReactor, AWriteToAConnectionThatIsGoneIsAnErrorNotASignal) {
  auto listener = TcpListener::bind({"127.0.0.1", 0});
  auto client = TcpStream::connect(listener.local_address());
  listener.accept().reset();
  const auto write_on = [&] {
    for (;;) {
      client.write("x");
      suspend();
    }
  };
  EXPECT_THROW(write_on(), InputOutputError);
}

MAIN_TEST_F(UvReactor, AnotherThreadEndsABlockingTurn) {
  Runtime& runtime = current_runtime();
  const auto polls_of_a_delay = [&] {
    const std::uint64_t before = runtime.metrics().polls;
    delay(20ms);
    return runtime.metrics().polls - before;
  };
  const std::uint64_t alone = polls_of_a_delay();
  std::atomic<bool> enough = false;
  std::thread waker([&] {
    while (!enough) {
      usleep(1000);
      runtime.wake();
    }
  });
  // The machine may keep the other thread from running for some of them.
  for (int i = 0; i < 1000 && !enough; ++i) enough = polls_of_a_delay() >= alone + 3;
  EXPECT_TRUE(enough);
  enough = true;
  waker.join();
}

MAIN_TEST_F(UvReactor, WorkThatNoWorkerHasBegunIsTakenBack) {
  FERMATA_CHECKS("THR-02");
  std::atomic<bool> release = false;
  std::atomic<int> ran = 0;
  const auto block = [&] {
    ++ran;
    while (!release) usleep(100);
  };
  std::vector<Coroutine<>> all;
  for (int i = 0; i < 64; ++i) {
    all.push_back(spawn("offload", [&] { offload(block); }));
  }
  delay(5ms);
  for (const auto& each : all) each.cancel();
  for (const auto& each : all) EXPECT_THROW(await(each), Cancellation);
  release = true;
  delay(10ms);
  EXPECT_LT(ran, 64);
}

class Sleep final : public backend::Task {
 public:
  Sleep(backend::Offload& offload, std::atomic<bool>& release)
      : backend::Task(offload), release_(release) {}

 private:
  void work() override {
    while (!release_) usleep(100);
  }
  void* result_address() noexcept override { return nullptr; }
  std::atomic<bool>& release_;
};

MAIN_TEST_F(UvReactor, ACancelledTaskSaysSoToWhoeverWaits) {
  backend::Offload& pool = current_runtime().reactor().offload();
  std::atomic<bool> release = false;
  std::vector<Ref<backend::Task>> busy_workers;
  for (int i = 0; i < 128; ++i) {
    busy_workers.push_back(Ref<backend::Task>::adopt(*new Sleep(pool, release)));
    busy_workers.back()->start();
  }
  const auto task = Ref<backend::Task>::adopt(*new Sleep(pool, release));
  auto waiter = spawn("waiter", [&] { wait(*task); });
  suspend();
  EXPECT_TRUE(task->cancel());
  try {
    await(waiter);
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "Thread pool task was cancelled");
  }
  release = true;
  for (const auto& each : busy_workers) wait(*each);
}

TEST_F(UvReactor, AShortageOfDescriptorsDelaysConnectionsAndLosesNone) {
#ifdef FERMATA_ASAN
  GTEST_SKIP() << "the sanitizer's check of types needs descriptors itself";
#endif
  FERMATA_CHECKS("LIS-01", "LIS-03");
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  UvArm::run([&] {
    auto listener = TcpListener::bind({"127.0.0.1", 0});
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    const int lowest_free = ::dup(client);
    ::close(lowest_free);
    rlimit tight = before;
    tight.rlim_cur = static_cast<rlim_t>(lowest_free);
    setrlimit(RLIMIT_NOFILE, &tight);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(listener.local_address().port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::uint64_t polls = current_runtime().metrics().polls;
    EXPECT_THROW((void)listener.accept({.timeout = 30ms}), Timeout);
    EXPECT_LT(current_runtime().metrics().polls - polls, 20u);
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_TRUE(listener.accept({.timeout = 5s}));
    ::close(client);
  });
}

}  // namespace
}  // namespace fermata
