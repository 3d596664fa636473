// SPDX-License-Identifier: Apache-2.0

// Channels between threads, real and simulated.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/io/thread_channel.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::thrown_by;

constexpr const char* kChannelClosed = "fermata::ThreadChannelError: ThreadChannel is closed";

template <class Arm>
class ThreadChannels : public ::testing::Test {};
TYPED_TEST_SUITE(ThreadChannels, Arms);

struct Message {
  int sender;
  int number;
};

TYPED_TEST(ThreadChannels, CarryEverythingOnceAndInTheOrderOfEachSender) {
  FERMATA_CHECKS("TC-01", "TC-02", "TC-03");
  constexpr int kSenders = 3;
  constexpr int kEach = 200;
  TypeParam::run([] {
    const ThreadChannel<Message> channel(4);
    std::vector<Thread<void>> senders;
    for (int sender = 0; sender < kSenders; ++sender) {
      senders.push_back(spawn_thread([channel, sender] {
        for (int n = 0; n < kEach; ++n) channel.send(Message{sender, n});
      }));
    }
    std::vector<Thread<std::vector<Message>>> receivers;
    for (int i = 0; i < 2; ++i) {
      receivers.push_back(spawn_thread([channel] {
        std::vector<Message> got;
        while (const auto message = channel.next()) got.push_back(*message);
        return got;
      }));
    }
    for (const auto& sender : senders) await(sender);
    channel.close();
    std::vector<int> seen(kSenders * kEach);
    for (const auto& receiver : receivers) {
      std::vector<int> last(kSenders, -1);
      for (const Message& message : await(receiver)) {
        const auto sender = static_cast<std::size_t>(message.sender);
        EXPECT_GT(message.number, last[sender]);
        last[sender] = message.number;
        ++seen[sender * kEach + static_cast<std::size_t>(message.number)];
      }
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
  });
}

MAIN_TYPED_TEST(ThreadChannels, HoldWhatNobodyHasTakenYet) {
  FERMATA_CHECKS("TC-01");
  const ThreadChannel<std::unique_ptr<int>> channel(2);
  EXPECT_EQ(channel.capacity(), 2u);
  EXPECT_EQ(channel.try_recv(), std::nullopt);
  channel.send(std::make_unique<int>(1));
  EXPECT_TRUE(channel.try_send(std::make_unique<int>(2)));
  auto third = std::make_unique<int>(3);
  EXPECT_FALSE(channel.try_send(std::move(third)));
  EXPECT_NE(third, nullptr) << "still the caller's";
  EXPECT_EQ(channel.size(), 2u);
  EXPECT_EQ(*channel.recv(), 1);
  EXPECT_EQ(**channel.try_recv(), 2);
  EXPECT_EQ(channel.size(), 0u);
  EXPECT_THROW(ThreadChannel<int>(0), UsageError);
}

MAIN_TYPED_TEST(ThreadChannels, ServeFirstComeFirst) {
  FERMATA_CHECKS("TC-03");
  const ThreadChannel<int> channel(1);
  std::vector<std::string> order;
  std::vector<Coroutine<void>> receivers;
  for (const char* name : {"a", "b", "c"}) {
    receivers.push_back(spawn(std::string_view(name), [&, name] {
      const int value = channel.recv();
      order.push_back(name + std::to_string(value));
    }));
    suspend();
  }
  const auto sender = spawn_thread([channel] {
    for (int i = 1; i <= 3; ++i) channel.send(i);
  });
  for (const auto& receiver : receivers) await(receiver);
  await(sender);
  EXPECT_EQ(order, (std::vector<std::string>{"a1", "b2", "c3"}));
}

MAIN_TYPED_TEST(ThreadChannels, CloseWakesEverybodyOnEveryThread) {
  FERMATA_CHECKS("TC-04");
  const ThreadChannel<int> full(1);
  const ThreadChannel<int> empty(1);
  full.send(1);
  std::vector<Thread<int>> threads;
  for (int i = 0; i < 3; ++i) {
    threads.push_back(spawn_thread([full, empty] {
      auto sender =
          spawn("sender", [&] { return thrown_by([&] { full.send(2); }) == kChannelClosed; });
      auto receiver = spawn(
          "receiver", [&] { return thrown_by([&] { (void)empty.recv(); }) == kChannelClosed; });
      return int{await(sender)} + int{await(receiver)};
    }));
  }
  delay(5ms);
  full.close();
  empty.close();
  full.close();
  for (const auto& thread : threads) EXPECT_EQ(await(thread), 2);
  EXPECT_TRUE(full.is_closed());
  EXPECT_EQ(full.recv(), 1) << "what is in it can be received";
  EXPECT_EQ(thrown_by([&] { (void)full.recv(); }), kChannelClosed);
  EXPECT_EQ(full.next(), std::nullopt);
  EXPECT_EQ(thrown_by([&] { (void)full.try_send(3); }), kChannelClosed);
  EXPECT_EQ(thrown_by([&] { (void)full.try_recv(); }), kChannelClosed);
}

MAIN_TYPED_TEST(ThreadChannels, ACancelledWaiterTakesAndLeavesNothing) {
  FERMATA_CHECKS("TC-02");
  const ThreadChannel<int> channel(1);
  auto receiver = spawn("receiver", [&] { return channel.recv(); });
  suspend();
  receiver.cancel();
  EXPECT_THROW(await(receiver), Cancellation);
  channel.send(1);
  auto sender = spawn("sender", [&] { channel.send(2); });
  suspend();
  sender.cancel();
  EXPECT_THROW(await(sender), Cancellation);
  EXPECT_EQ(channel.recv(), 1);
  EXPECT_EQ(channel.try_recv(), std::nullopt);
}

MAIN_TYPED_TEST(ThreadChannels, WhatACancelledWaiterWasPromisedGoesToTheNext) {
  FERMATA_CHECKS("TC-02", "TC-03");
  const ThreadChannel<int> channel(1);
  auto first = spawn("first", [&] { return channel.recv(); });
  auto second = spawn("second", [&] { return channel.recv(); });
  suspend();
  channel.send(7);  // Promised to the first.
  EXPECT_EQ(channel.try_recv(), std::nullopt) << "not a newcomer's";
  first.cancel();
  EXPECT_THROW(await(first), Cancellation);
  EXPECT_EQ(await(second), 7);

  channel.send(1);
  auto third = spawn("third", [&] { channel.send(3); });
  auto fourth = spawn("fourth", [&] { channel.send(4); });
  suspend();
  EXPECT_EQ(channel.recv(), 1);  // The slot is promised to the third.
  EXPECT_FALSE(channel.try_send(2));
  third.cancel();
  EXPECT_THROW(await(third), Cancellation);
  await(fourth);
  EXPECT_EQ(channel.recv(), 4);
}

MAIN_TYPED_TEST(ThreadChannels, AClosedOneKeepsAPromisedValueForTheNextToo) {
  FERMATA_CHECKS("TC-02", "TC-04");
  const ThreadChannel<int> channel(1);
  auto first = spawn("first", [&] { return channel.recv(); });
  suspend();
  channel.send(7);
  channel.close();
  auto second = spawn("second", [&] { return channel.recv(); });
  auto third = spawn("third", [&] { return thrown_by([&] { (void)channel.recv(); }); });
  first.cancel();
  EXPECT_THROW(await(first), Cancellation);
  EXPECT_EQ(await(second), 7);
  EXPECT_EQ(await(third), kChannelClosed);
}

MAIN_TYPED_TEST(ThreadChannels, WhatHasHappenedWinsOverATokenOrATimeout) {
  FERMATA_CHECKS("TC-02", "EVT-06");
  const ThreadChannel<int> channel(1);
  Timer fired(current_runtime(), 0ms);
  wait(fired);
  EXPECT_THROW((void)channel.recv({.token = &fired}), OperationCancelled);
  EXPECT_THROW((void)channel.recv({.timeout = 1ms}), Timeout);
  EXPECT_THROW((void)channel.recv({.timeout = 0ms}), Timeout);
  channel.send(1, {.token = &fired});
  EXPECT_THROW(channel.send(2, {.timeout = 1ms}), Timeout);
  EXPECT_EQ(channel.recv({.timeout = 0ms, .token = &fired}), 1);
  EXPECT_EQ(channel.size(), 0u);
}

TYPED_TEST(ThreadChannels, CloseWithTheRunOfWhoeverMadeThem) {
  TypeParam::run([] {
    const auto made = spawn_thread([] { return ThreadChannel<int>(2); });
    const ThreadChannel<int> channel = await(made);
    EXPECT_TRUE(channel.is_closed());
  });
  std::atomic<bool> ended = false;
  TypeParam::run([&] {
    const ThreadChannel<int> channel(1);
    (void)spawn_thread([&ended, channel] {
      EXPECT_EQ(channel.next(), std::nullopt);
      ended = true;
    });
  });
  EXPECT_TRUE(ended) << "a thread that waits for this one's channel does not keep it";
}

}  // namespace
}  // namespace fermata::conformance
