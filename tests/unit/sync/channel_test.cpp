// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/channel.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/channel_fixture.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

// --- values ---

MAIN_TEST_F(ChannelTest, GivesValuesInTheOrderTheyWereSent) {
  FERMATA_CHECKS("CHAN-01", "CHAN-02", "CHAN-15");
  const Channel<int> channel("numbers", 3);
  const auto producer = spawn([channel] {
    for (int i = 0; i < 100; ++i) {
      channel.send(i);
      EXPECT_LE(channel.count(), 3u);
    }
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(channel.recv(), i);
    EXPECT_LE(channel.count(), 3u);
  }
  await(producer);
  EXPECT_TRUE(channel.is_empty());
}

MAIN_TEST_F(ChannelTest, MovesWhatCannotBeCopied) {
  for (const std::size_t capacity : {0u, 1u}) {
    const Channel<std::unique_ptr<int>> channel("pointers", capacity);
    const auto sender = spawn([channel] { channel.send(std::make_unique<int>(7)); });
    EXPECT_EQ(*channel.recv(), 7);
    await(sender);
    EXPECT_EQ(channel.try_recv(), std::nullopt);
  }
}

MAIN_TEST_F(ChannelTest, LeavesAValueThatItDidNotAccept) {
  for (const std::size_t capacity : {0u, 1u}) {
    const Channel<std::unique_ptr<int>> channel("full", capacity);
    if (capacity == 1) channel.send(nullptr);
    auto value = std::make_unique<int>(7);
    EXPECT_FALSE(channel.try_send(std::move(value)));
    ASSERT_NE(value, nullptr);
    EXPECT_THROW(channel.send(std::move(value), {.timeout = 5ms}), Timeout);
    ASSERT_NE(value, nullptr);
    channel.close();
    EXPECT_THROW(channel.send(std::move(value)), ChannelError);
    EXPECT_NE(value, nullptr);
  }
}

TEST_F(ChannelTest, DestroysWhatNobodyReceives) {
  FERMATA_CHECKS("CHAN-01");
  const auto value = std::make_shared<int>(1);
  fixture.run([&] {
    const Channel<std::shared_ptr<int>> channel("left", 4);
    for (int i = 0; i < 3; ++i) channel.send(value);
    EXPECT_EQ(channel.recv(), value);
    EXPECT_EQ(value.use_count(), 3);
  });
  EXPECT_EQ(value.use_count(), 1);
}

MAIN_TEST_F(ChannelTest, DoesNotSuspendWhileThereIsRoomOrAValue) {
  const Channel<int> channel("roomy", 2);
  const std::uint64_t ticks = runtime.metrics().ticks;
  channel.send(1);
  channel.send(2, {.timeout = 0ms});
  EXPECT_EQ(channel.recv(), 1);
  EXPECT_EQ(channel.recv({.timeout = 0ms}), 2);
  EXPECT_EQ(error_of([&] { static_cast<void>(channel.recv({.timeout = 0ms})); }),
            "fermata::Timeout: Timeout occurred after 0 milliseconds");
  EXPECT_EQ(runtime.metrics().ticks, ticks);
}

MAIN_TEST_F(ChannelTest, SaysWhoWaitsAndWhatIsPromised) {
  FERMATA_CHECKS("CHAN-03", "CHAN-04");
  const Channel<int> channel("watched", 1);
  EXPECT_EQ(channel.info(), "Channel(capacity=1, receivers=0, senders=0, reserved=0/0)");
  const auto r1 = spawn_receiver(channel, "r1");
  const auto r2 = spawn_receiver(channel, "r2");
  suspend();
  EXPECT_EQ(channel.info(), "Channel(capacity=1, receivers=2, senders=0, reserved=0/0)");
  channel.send(1);
  EXPECT_EQ(channel.info(), "Channel(capacity=1, receivers=2, senders=0, reserved=1/0)");
  EXPECT_EQ(channel.count(), 1u) << "until the receiver runs";
  EXPECT_TRUE(channel.is_full());
  const auto s1 = spawn_sender(channel, "s1", 2);
  const auto s2 = spawn_sender(channel, "s2", 3);
  await(r1);
  EXPECT_EQ(channel.info(), "Channel(capacity=1, receivers=1, senders=1, reserved=1/0)");
  await(s2);
  await(r2);
  EXPECT_EQ(channel.recv(), 3);
  EXPECT_EQ(notes, (Notes{"r1:1", "s1:sent", "r2:2", "s2:sent"}));
}

// --- promises: the canonical traces ---

MAIN_TEST_F(ChannelTest, HandsAValueOnFromACancelledReceiver) {
  FERMATA_CHECKS("CHAN-05", "CHAN-09");
  const Channel<int> channel("jobs", 1);
  const auto r1 = spawn_receiver(channel, "r1");
  const auto r2 = spawn_receiver(channel, "r2");
  suspend();
  channel.send(1);
  r1.cancel();
  const Subscription watch = watch_end(r1, channel);
  EXPECT_THROW(await(r1), Cancellation);
  EXPECT_EQ(at_end, "Channel(capacity=1, receivers=1, senders=0, reserved=1/0)");
  await(r2);
  EXPECT_EQ(notes, (Notes{"r1!Coroutine cancelled", "r2:1"}));
}

MAIN_TEST_F(ChannelTest, FreesTheValueOfACancelledReceiverWhenNobodyIsBehind) {
  FERMATA_CHECKS("CHAN-09");
  const Channel<int> channel("jobs", 1);
  const auto r1 = spawn_receiver(channel, "r1");
  suspend();
  channel.send(1);
  r1.cancel();
  EXPECT_THROW(await(r1), Cancellation);
  EXPECT_EQ(channel.count(), 1u);
  const std::uint64_t ticks = runtime.metrics().ticks;
  EXPECT_EQ(channel.recv(), 1);
  EXPECT_EQ(runtime.metrics().ticks, ticks);
}

MAIN_TEST_F(ChannelTest, GivesNoNewcomerWhatWasPromised) {
  FERMATA_CHECKS("CHAN-05", "CHAN-07");
  const Channel<int> channel("jobs", 1);
  const auto r1 = spawn_receiver(channel, "r1");
  suspend();
  channel.send(1);
  EXPECT_EQ(channel.try_recv(), std::nullopt);
  EXPECT_FALSE(channel.is_empty());
  EXPECT_THROW(static_cast<void>(channel.recv({.timeout = 0ms})), Timeout);
  const auto newcomer = spawn(SpawnOptions{.name = "r3", .priority = Priority::High}, [&] {
    note("r3", [&] { return ":" + std::to_string(channel.recv()); });
  });
  await(r1);
  EXPECT_EQ(notes, (Notes{"r1:1"}));
  channel.send(2);
  await(newcomer);
  EXPECT_EQ(notes, (Notes{"r1:1", "r3:2"}));
}

MAIN_TEST_F(ChannelTest, KeepsItsPromiseToAReceiverWhenItCloses) {
  FERMATA_CHECKS("CHAN-05", "CHAN-14");
  const Channel<int> channel("jobs", 1);
  const auto r1 = spawn("r1", [&] {
    for (int i = 0; i < 2; ++i) {
      note("r1", [&] { return ":" + std::to_string(channel.recv()); });
    }
  });
  suspend();
  channel.send(1);
  channel.close();
  EXPECT_EQ(error_of([&] { static_cast<void>(channel.recv()); }), kClosed)
      << "what is left is promised";
  await(r1);
  EXPECT_EQ(notes, (Notes{"r1:1", "r1!Channel is closed"}));
}

MAIN_TEST_F(ChannelTest, HandsASlotOnFromACancelledSender) {
  FERMATA_CHECKS("CHAN-06", "CHAN-09");
  const Channel<int> channel("jobs", 1);
  channel.send(1);
  const auto s2 = spawn_sender(channel, "s2", 2);
  const auto s3 = spawn_sender(channel, "s3", 3);
  suspend();
  EXPECT_EQ(channel.recv(), 1);
  EXPECT_EQ(channel.info(), "Channel(capacity=1, receivers=0, senders=2, reserved=0/1)");
  EXPECT_FALSE(channel.try_send(9)) << "the slot is promised";
  EXPECT_FALSE(channel.is_full());
  s2.cancel();
  const Subscription watch = watch_end(s2, channel);
  EXPECT_THROW(await(s2), Cancellation);
  EXPECT_EQ(at_end, "Channel(capacity=1, receivers=0, senders=1, reserved=0/1)");
  await(s3);
  EXPECT_EQ(channel.recv(), 3);
}

MAIN_TEST_F(ChannelTest, BreaksItsPromiseToASenderWhenItCloses) {
  FERMATA_CHECKS("CHAN-12", "CHAN-14");
  const Channel<int> channel("jobs", 1);
  channel.send(1);
  const auto s2 = spawn_sender(channel, "s2", 2);
  suspend();
  EXPECT_EQ(channel.recv(), 1);
  channel.close();
  await(s2);
  EXPECT_EQ(notes, (Notes{"s2!Channel is closed"}));
  EXPECT_TRUE(channel.is_empty());
  EXPECT_THROW(static_cast<void>(channel.recv()), ChannelError);
}

// --- rendezvous ---

MAIN_TEST_F(ChannelTest, AcknowledgesASenderAndGrantsTheNextInOneCall) {
  FERMATA_CHECKS("CHAN-08", "CHAN-10");
  const Channel<int> channel("meeting", 0);
  const auto s1 = spawn_sender(channel, "s1", 1);
  const auto s2 = spawn_sender(channel, "s2", 2);
  suspend();
  EXPECT_EQ(channel.info(), "Channel(capacity=0, receivers=0, senders=2, reserved=0/0)");
  EXPECT_EQ(channel.count(), 1u);
  EXPECT_EQ(channel.recv(), 1);
  EXPECT_EQ(channel.info(), "Channel(capacity=0, receivers=0, senders=1, reserved=0/1)");
  EXPECT_FALSE(channel.try_send(3));
  EXPECT_EQ(channel.recv(), 2);
  await(s1);
  await(s2);
}

MAIN_TEST_F(ChannelTest, WithdrawsTheValueOfACancelledSender) {
  FERMATA_CHECKS("CHAN-08", "CHAN-09", "CHAN-11");
  const Channel<int> channel("meeting", 0);
  const auto s1 = spawn_sender(channel, "s1", 1);
  const auto s2 = spawn_sender(channel, "s2", 2);
  suspend();
  s1.cancel();
  EXPECT_EQ(channel.try_recv(), std::nullopt) << "before it has run";
  const Subscription watch = watch_end(s1, channel);
  EXPECT_THROW(await(s1), Cancellation);
  EXPECT_EQ(at_end, "Channel(capacity=0, receivers=0, senders=1, reserved=0/1)");
  EXPECT_EQ(channel.recv(), 2);
  await(s2);
}

MAIN_TEST_F(ChannelTest, GivesAReceiverThatCameMeanwhileTheNextValue) {
  FERMATA_CHECKS("CHAN-08", "CHAN-11");
  const Channel<int> channel("meeting", 0);
  const auto s1 = spawn_sender(channel, "s1", 1);
  const auto s2 = spawn_sender(channel, "s2", 2);
  suspend();
  s1.cancel();
  EXPECT_EQ(channel.recv(), 2) << "waits from before the withdrawal";
  await(s2);
  EXPECT_THROW(await(s1), Cancellation);
}

MAIN_TEST_F(ChannelTest, DoesNotWaitForAReceiverThatIsThereToRun) {
  FERMATA_CHECKS("CHAN-05", "CHAN-10");
  const Channel<int> channel("meeting", 0);
  const auto r = spawn_receiver(channel, "r");
  suspend();
  const std::uint64_t ticks = runtime.metrics().ticks;
  channel.send(1);
  EXPECT_EQ(runtime.metrics().ticks, ticks);
  channel.close();
  await(r);
  EXPECT_EQ(notes, (Notes{"r:1"}));
}

MAIN_TEST_F(ChannelTest, DoesNotFailASenderWhoseValueWasTaken) {
  FERMATA_CHECKS("CHAN-01", "CHAN-10", "CHAN-12");
  const Channel<int> channel("meeting", 0);
  const auto s1 = spawn_sender(channel, "s1", 1);
  suspend();
  EXPECT_EQ(channel.recv(), 1);
  channel.close();
  await(s1);
  EXPECT_EQ(notes, (Notes{"s1:sent"}));
}

MAIN_TEST_F(ChannelTest, DropsTheValueOfASenderThatItFails) {
  FERMATA_CHECKS("CHAN-01", "CHAN-12", "CHAN-14");
  const Channel<int> channel("meeting", 0);
  const auto s1 = spawn_sender(channel, "s1", 1);
  suspend();
  channel.close();
  EXPECT_TRUE(channel.is_empty());
  EXPECT_THROW(static_cast<void>(channel.try_recv()), ChannelError);
  await(s1);
  EXPECT_EQ(notes, (Notes{"s1!Channel is closed"}));
}

MAIN_TEST_F(ChannelTest, KeepsTheCommittedValueOfACancelledReceiver) {
  FERMATA_CHECKS("CHAN-09", "CHAN-10", "CHAN-14");
  const Channel<int> channel("meeting", 0);
  const auto r = spawn_receiver(channel, "r");
  suspend();
  channel.send(1);
  r.cancel();
  EXPECT_THROW(await(r), Cancellation);
  EXPECT_EQ(channel.count(), 1u);
  EXPECT_FALSE(channel.try_send(2)) << "it blocks further sends";
  const auto s2 = spawn_sender(channel, "s2", 2);
  suspend();
  EXPECT_TRUE(notes.back() != "s2:sent");
  channel.close();
  EXPECT_EQ(channel.recv(), 1) << "drained after the close";
  await(s2);
  EXPECT_THROW(static_cast<void>(channel.recv()), ChannelError);
}

MAIN_TEST_F(ChannelTest, ReportsACancellationThoughTheValueWasTaken) {
  const Channel<int> channel("meeting", 0);
  const auto s1 = spawn_sender(channel, "s1", 1);
  suspend();
  EXPECT_EQ(channel.recv(), 1);
  s1.cancel();
  EXPECT_THROW(await(s1), Cancellation);
  EXPECT_EQ(channel.info(), "Channel(capacity=0, receivers=0, senders=0, reserved=0/0)");
}

MAIN_TEST_F(ChannelTest, SharesOneTimeoutBetweenTheSlotAndTheReceiver) {
  const Channel<int> channel("meeting", 0);
  const auto first = spawn_sender(channel, "first", 1);
  suspend();
  const auto taker = spawn([&] {
    delay(6ms);
    EXPECT_EQ(channel.recv(), 1);
  });
  const Instant start = now();
  EXPECT_THROW(channel.send(2, {.timeout = 10ms}), Timeout);
  EXPECT_EQ(now() - start, 10ms);
  await(taker);
  EXPECT_TRUE(channel.is_empty());
}

MAIN_TEST_F(ChannelTest, KeepsTheTokenBetweenTheSlotAndTheReceiver) {
  const Channel<int> channel("meeting", 0);
  const auto first = spawn_sender(channel, "first", 1);
  suspend();
  auto token = make_event<PlainEvent>(runtime);
  const auto second =
      spawn([&] { EXPECT_THROW(channel.send(2, {.token = token.get()}), OperationCancelled); });
  suspend();
  EXPECT_EQ(channel.recv(), 1);
  token->complete({});
  token.reset();
  await(second);
  await(first);
}

// --- without waiting ---

MAIN_TEST_F(ChannelTest, SendsWithoutWaitingOnlyWhatIsKept) {
  FERMATA_CHECKS("CHAN-16");
  const Channel<int> buffered("buffered", 1);
  EXPECT_TRUE(buffered.try_send(1));
  EXPECT_FALSE(buffered.try_send(2));
  buffered.close();
  EXPECT_EQ(error_of([&] { static_cast<void>(buffered.try_send(3)); }), kClosed);
  EXPECT_EQ(buffered.try_recv(), 1);

  const Channel<int> meeting("meeting", 0);
  EXPECT_FALSE(meeting.try_send(1)) << "nobody waits for it";
  EXPECT_TRUE(meeting.is_empty());
  const auto r1 = spawn_receiver(meeting, "r1");
  const auto r2 = spawn_receiver(meeting, "r2");
  suspend();
  EXPECT_TRUE(meeting.try_send(1));
  EXPECT_FALSE(meeting.try_send(2)) << "the slot is taken until r1 runs";
  await(r1);
  EXPECT_TRUE(meeting.try_send(2));
  await(r2);
  EXPECT_EQ(notes, (Notes{"r1:1", "r2:2"}));
}

MAIN_TEST_F(ChannelTest, WakesAReceiverForWhatWasSentWithoutWaiting) {
  FERMATA_CHECKS("CHAN-08");
  const Channel<int> channel("jobs", 4);
  const auto r = spawn_receiver(channel, "r");
  suspend();
  EXPECT_TRUE(channel.try_send(1));
  await(r);
}

MAIN_TEST_F(ChannelTest, TakesADeliveryWithoutWaiting) {
  const Channel<int> channel("meeting", 0);
  const auto s = spawn_sender(channel, "s", 1);
  suspend();
  EXPECT_EQ(channel.try_recv(), 1);
  await(s);
}

// --- order ---

MAIN_TEST_F(ChannelTest, ServesEachSideInTheOrderOfArrival) {
  FERMATA_CHECKS("CHAN-02", "CHAN-07");
  const Channel<int> channel("jobs", 1);
  std::vector<Coroutine<>> all;
  for (int i = 0; i < 4; ++i) all.push_back(spawn_receiver(channel, "r" + std::to_string(i)));
  suspend();
  all[1].cancel();
  EXPECT_THROW(await(all[1]), Cancellation);
  for (int i = 0; i < 3; ++i) channel.send(i);
  for (const int i : {0, 2, 3}) await(all[static_cast<std::size_t>(i)]);
  EXPECT_EQ(notes, (Notes{"r1!Coroutine cancelled", "r0:0", "r2:1", "r3:2"}));

  notes.clear();
  all.clear();
  channel.send(0);
  for (int i = 1; i < 5; ++i) all.push_back(spawn_sender(channel, "s" + std::to_string(i), i));
  suspend();
  all[1].cancel();
  EXPECT_THROW(await(all[1]), Cancellation);
  for (const int expected : {0, 1, 3, 4}) EXPECT_EQ(channel.recv(), expected);
}

// --- closing ---

MAIN_TEST_F(ChannelTest, WakesWhoWaitsInTheOrderOfArrivalWhenItCloses) {
  FERMATA_CHECKS("CHAN-12", "CHAN-13");
  const Channel<int> channel("jobs", 1);
  const auto r1 = spawn_receiver(channel, "r1");
  const auto r2 = spawn_receiver(channel, "r2");
  suspend();
  channel.close();
  channel.close(CloseReason::Deadlock);
  await(r1);
  await(r2);

  const Channel<int> meeting("meeting", 0);
  for (int i = 1; i < 4; ++i) spawn_sender(meeting, "s" + std::to_string(i), i);
  suspend();
  meeting.close();
  suspend();
  EXPECT_EQ(notes, (Notes{"r1!Channel is closed", "r2!Channel is closed", "s1!Channel is closed",
                          "s2!Channel is closed", "s3!Channel is closed"}));
  EXPECT_EQ(meeting.info(), "Channel(capacity=0, receivers=0, senders=0, reserved=0/0)");
  EXPECT_THROW(meeting.send(1), ChannelError);
}

MAIN_TEST_F(ChannelTest, GivesWhatIsLeftAfterTheClose) {
  FERMATA_CHECKS("CHAN-13", "CHAN-14");
  const Channel<int> channel("jobs", 3);
  for (int i = 0; i < 3; ++i) channel.send(i);
  channel.close(CloseReason::Deadlock);
  channel.close();
  EXPECT_THROW(channel.send(9), ChannelError);
  EXPECT_EQ(channel.recv(), 0);
  EXPECT_EQ(channel.try_recv(), 1);
  EXPECT_EQ(channel.next(), 2);
  EXPECT_EQ(error_of([&] { static_cast<void>(channel.recv()); }),
            "fermata::ChannelError: Channel deadlock");
  EXPECT_THROW(static_cast<void>(channel.try_recv()), ChannelError);
}

MAIN_TEST_F(ChannelTest, SaysWhichChannelWasClosedAndWhere) {
  const Channel<int> channel("jobs", 3, {}, {"here.cpp", "main", 7});
  channel.close(CloseReason::Explicit, {"there.cpp", "worker", 9});
  EXPECT_EQ(thrown_by([&] { channel.send(1); }),
            "fermata::ChannelError: Channel is closed\n"
            "  previous: fermata::Error: channel 'jobs' created at here.cpp:7 (main), closed at "
            "there.cpp:9 (worker)");
  EXPECT_EQ(channel.label(), "channel 'jobs' created at here.cpp:7 (main)");
}

TEST_F(ChannelTest, EndsAnIterationQuietlyOnlyWhenSomebodyClosedIt) {
  FERMATA_CHECKS("CHAN-20");
  for (const CloseReason reason : {CloseReason::Explicit, CloseReason::ScopeDisposed}) {
    notes.clear();
    fixture.run([&] {
      const Channel<int> channel("jobs", 4);
      const auto consumer = spawn("c", [&] {
        note("c", [&] {
          int sum = 0;
          for (int& value : channel) sum += value;
          return ":" + std::to_string(sum);
        });
      });
      channel.send(1);
      channel.send(2);
      suspend();
      suspend();
      EXPECT_EQ(notes, Notes{}) << "it waits";
      channel.send(4);
      channel.close(reason);
      await(consumer);
    });
    EXPECT_EQ(notes,
              (Notes{reason == CloseReason::Explicit ? "c:7"
                                                     : "c!Channel closed: owner scope disposed"}));
  }
}

MAIN_TEST_F(ChannelTest, EndsAnIterationWithTheCancellationOfItsCoroutine) {
  FERMATA_CHECKS("CHAN-20");
  const Channel<int> channel("jobs", 4);
  const auto consumer = spawn("c", [&] {
    note("c", [&] {
      for (const int value : channel) static_cast<void>(value);
      return std::string(":end");
    });
  });
  suspend();
  channel.close();
  consumer.cancel();
  EXPECT_THROW(await(consumer), Cancellation);
  EXPECT_EQ(notes, (Notes{"c!Coroutine cancelled"}));
}

MAIN_TEST_F(ChannelTest, ClosesWhenTheLastHandleGoes) {
  FERMATA_CHECKS("CHAN-12");
  auto owner = std::make_unique<Channel<int>>(Name("jobs"), 1u);
  const Channel<int>& borrowed = *owner;
  const auto waiter =
      spawn("r", [&] { note("r", [&] { return ":" + std::to_string(borrowed.recv()); }); });
  suspend();
  Channel<int> copy = *owner;
  Channel<int> moved = std::move(copy);
  EXPECT_TRUE(moved == *owner);
  EXPECT_FALSE(copy);
  owner.reset();
  suspend();
  EXPECT_EQ(notes, Notes{}) << "a handle is left";
  moved = Channel<int>();
  await(waiter);
  EXPECT_EQ(notes, (Notes{"r!Channel disposed"}));
}

MAIN_TEST_F(ChannelTest, ClosesWithTheScopeThatItWasCreatedIn) {
  FERMATA_CHECKS("CHAN-12", "CHAN-22");
  Channel<int> inner;
  const Scope owner = Scope::detached("owner");
  const auto creator = owner.spawn("creator", [&] {
    inner = Channel<int>("inner", 1);
    const Channel<int> gone_first("gone first", 1);
  });
  await(creator);
  EXPECT_FALSE(inner.is_closed()) << "its scope is idle, and open";
  const auto outside = spawn_receiver(inner, "outside");
  suspend();
  owner.cancel();
  await(outside);
  EXPECT_EQ(notes, (Notes{"outside!Channel closed: owner scope disposed"}));
  EXPECT_EQ(error_of([&] { inner.send(1); }),
            "fermata::ChannelError: Channel closed: owner scope disposed");
}

MAIN_TEST_F(ChannelTest, IsAnEventThatCompletesWhenItCloses) {
  FERMATA_CHECKS("CHAN-12", "EVT-10");
  const Channel<int> channel("jobs", 1);
  std::vector<std::string> order;
  const auto r = spawn_receiver(channel, "r");
  suspend();
  const Subscription subscription = subscribe(channel.event(), [&](Event&, const Outcome& end) {
    order.push_back(message_of(end.error));
    EXPECT_EQ(channel.info(), "Channel(capacity=1, receivers=0, senders=0, reserved=0/0)")
        << "the waiters are told first";
  });
  const auto watcher = spawn([&] { EXPECT_EQ(error_of([&] { wait(channel.event()); }), kClosed); });
  suspend();
  channel.send(1);
  await(r);
  EXPECT_EQ(order, std::vector<std::string>{}) << "a value is not an end";
  channel.close();
  await(watcher);
  EXPECT_EQ(order, (std::vector<std::string>{"Channel is closed"}));
  EXPECT_EQ(error_of([&] { wait(channel.event()); }), kClosed) << "late";
}

// --- cancellation ---

MAIN_TEST_F(ChannelTest, LooksAtTheTokenBeforeAnythingElse) {
  FERMATA_CHECKS("CHAN-21", "EVT-06", "EVT-07");
  const Channel<int> channel("jobs", 2);
  channel.send(1);
  const auto token = spawn([] { throw Error("stop"); });
  suspend();
  const WaitOptions options{.token = &*token};
  EXPECT_EQ(thrown_by([&] { static_cast<void>(channel.recv(options)); }),
            "fermata::OperationCancelled: Operation has been cancelled\n"
            "  previous: fermata::Error: stop");
  EXPECT_THROW(channel.send(2, options), OperationCancelled);
  EXPECT_THROW(static_cast<void>(channel.next(options)), OperationCancelled);
  EXPECT_EQ(channel.count(), 1u);
  EXPECT_EQ(channel.info(), "Channel(capacity=2, receivers=0, senders=0, reserved=0/0)");
  channel.close();
  EXPECT_THROW(channel.send(2, options), OperationCancelled);
  EXPECT_THROW(static_cast<void>(channel.recv({.timeout = -1ns})), UsageError);
}

MAIN_TEST_F(ChannelTest, LeavesNothingBehindWhenTheTokenOrTheTimeoutEndsAWait) {
  FERMATA_CHECKS("CHAN-08");
  const Channel<int> channel("jobs", 1);
  const auto token = spawn([] { delay(5ms); });
  EXPECT_THROW(static_cast<void>(channel.recv({.token = &*token})), OperationCancelled);
  EXPECT_EQ(error_of([&] { static_cast<void>(channel.recv({.timeout = 3ms})); }),
            "fermata::Timeout: Timeout occurred after 3 milliseconds");
  channel.send(1);
  EXPECT_EQ(error_of([&] { channel.send(2, {.timeout = 3ms}); }),
            "fermata::Timeout: Timeout occurred after 3 milliseconds");
  EXPECT_EQ(channel.info(), "Channel(capacity=1, receivers=0, senders=0, reserved=0/0)");
  EXPECT_EQ(channel.recv(), 1);
}

// --- bad use ---

TEST_F(ChannelTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(thrown_by([] { Channel<int>().send(1); }),
            "fermata::UsageError: the channel is an empty handle");
  EXPECT_THROW(Channel<int>("outside", 1), UsageError);
  fixture.run([] {
    const SourcePlace here{"here.cpp", "", 7};
    EXPECT_EQ(thrown_by([&] { Channel<int>("jobs", 1, {.no_producer_timeout = -5ns}, here); }),
              "fermata::UsageError: channel 'jobs' created at here.cpp:7: no_producer_timeout of "
              "-5 ns: expected zero or more");
    EXPECT_EQ(thrown_by([&] { Channel<std::uint64_t>("jobs", std::size_t{1} << 62, {}, here); }),
              "fermata::UsageError: channel 'jobs' created at here.cpp:7: capacity "
              "4611686018427387904: expected at most 1152921504606846975");
  });
}

}  // namespace
}  // namespace fermata::test
