// SPDX-License-Identifier: Apache-2.0

// Tasks in simulation: under every interruption of every wait, in crashes, and in equal runs.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/mutex.hpp"
#include "fermata/sync/task.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

using TasksInWorld = test::WorldFixture;

/// Lives in frames: as a local variable, an argument, a result.
struct InFrame {
  inline static int alive = 0;
  InFrame() noexcept { ++alive; }
  InFrame(const InFrame&) noexcept { ++alive; }
  InFrame& operator=(const InFrame&) noexcept { return *this; }
  ~InFrame() { --alive; }
};

Task<InFrame> wait_for(Future<int> future, InFrame /*argument*/) {
  const InFrame local;
  co_await future;
  co_return local;
}

Task<InFrame> take_from(Channel<int> channel, InFrame /*argument*/) {
  const InFrame local;
  static_cast<void>(co_await receive(channel, {.timeout = 1h}));
  co_return local;
}

Task<InFrame> rest(InFrame /*argument*/) {
  const InFrame local;
  co_await after(1ms);
  co_await after(0ms);
  co_return local;
}

Task<InFrame> read(TcpStream& stream, InFrame /*argument*/) {
  const InFrame local;
  std::array<std::byte, 1> buffer;
  EXPECT_EQ(co_await read_from(stream, buffer, {.timeout = 1h}), 1u);
  co_return local;
}

/// Every kind of wait, one after the other, each in a Task of its own.
Task<> wait_for_everything(TcpStream& stream, Future<int> future, Channel<int> channel) {
  const InFrame local;
  InFrame result = co_await rest(InFrame());
  result = co_await wait_for(future, InFrame());
  result = co_await take_from(channel, result);
  result = co_await read(stream, result);
  const auto helper = spawn("helper", rest(result));
  result = co_await helper;
  result = co_await spawn("another", rest(result));
}

/// Answers what `wait_for_everything` waits for.
void answer(TcpStream& peer, Promise<int> promise, const Channel<int>& channel) {
  delay(2ms);
  promise.complete(1);
  delay(1ms);
  static_cast<void>(channel.try_send(2));
  delay(1ms);
  peer.write("3");
}

TEST_F(TasksInWorld, LeaveNothingBehindWhereverTheyAreInterrupted) {
  SweepCounts counts;
  world_->node("main", [&] {
    counts = world_->sweep_cancellation(
        [&] {
          TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
          auto client = std::make_shared<TcpStream>(TcpStream::connect(listener.local_address()));
          std::optional<TcpStream> server = listener.accept();
          Promise<int> promise;
          promise.ignore();
          const Channel<int> channel("channel", 1);
          const auto other = spawn("other", [client, promise, channel] {
            protect([&] { answer(*client, promise, channel); });  // Else nobody answers.
          });
          await(wait_for_everything(*server, promise.future(), channel));
        },
        [] { EXPECT_EQ(InFrame::alive, 0); });
    EXPECT_EQ(InFrame::alive, 0);
  });
  run();
  EXPECT_GT(counts.cancellations, 8u) << "of the Task, its helpers and who answers";
  EXPECT_GT(counts.late_cancellations, 8u);
  EXPECT_EQ(counts.timeouts, 2u) << "of the channel and of the stream";
}

TEST_F(TasksInWorld, PassOnWhatWasReservedForThem) {
  std::optional<Mutex> mutex;
  const auto use = [&]() -> Task<> {
    co_await operation([&] { mutex->lock(); });
    const std::lock_guard held(*mutex, std::adopt_lock);
    const InFrame local;
    co_await after(1ms);
  };
  world_->node("main", [&] {
    mutex.emplace();
    world_->sweep_cancellation(
        [&] {
          const auto a = spawn("a", use());
          const auto b = spawn("b", use());
          await(a);
          await(b);
        },
        {.then = [&] { await(use()); }, .check = [] { EXPECT_EQ(InFrame::alive, 0); }});
    mutex.reset();
  });
  run();
}

TEST_F(TasksInWorld, AreUnwoundByACrashOfTheirMachine) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed);
    Node& server = world_->service("server", [] {
      const Channel<int> silent("silent", 0);
      const auto inner = [&]() -> Task<InFrame> {
        co_return co_await take_from(silent, InFrame());
      };
      const auto first = spawn("first", inner());
      const auto second = spawn("second", inner());
      const Task<InFrame> never_run = rest(InFrame());
      await(inner());
    });
    world_->node("other", [&] {
      delay(5ms);
      EXPECT_GE(InFrame::alive, 1 + 3 * 2) << "an argument of each, and a local variable";
      server.crash();
      delay(1ms);
      EXPECT_EQ(InFrame::alive, 0);
    });
    run();
  }
}

TEST_F(TasksInWorld, RunTheSameWithTheSameSeed) {
  const auto order_with = [&](std::uint64_t seed) {
    std::string order;
    begin(seed);
    world_->node("main", [&] {
      const auto work = [&](char name) -> Task<> {
        for (int i = 0; i < 4; ++i) {
          co_await operation([] { suspend(); });
          order += name;
        }
      };
      const auto a = spawn("a", work('a'));
      const auto b = spawn("b", work('b'));
      await(a);
      await(b);
    });
    run();
    return order;
  };
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::string order = order_with(seed);
    EXPECT_EQ(order_with(seed), order);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 1u) << "the strategy chooses among carriers";
}

}  // namespace
}  // namespace fermata::sim
