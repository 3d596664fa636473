// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/channel_future.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/channel.hpp"
#include "tests/support/channel_fixture.hpp"
#include "tests/support/checks.hpp"

namespace fermata::test {
namespace {

class ChannelFutureTest : public ChannelTest {};

TEST_F(ChannelFutureTest, GivesAFutureOfTheNextValue) {
  FERMATA_CHECKS("CHAN-02", "CHAN-07", "CHAN-17");
  fixture.run([this] {
    for (const std::size_t capacity : {0u, 2u}) {
      notes.clear();
      const Channel<int> channel("jobs", capacity);
      const Future<int> first = channel.recv_async();
      const auto r = spawn_receiver(channel, "r");
      suspend();
      const Future<int> last = channel.recv_async();
      EXPECT_EQ(receivers_of(channel), 3u);
      const std::uint64_t ticks = runtime.metrics().ticks;
      channel.send(1);
      EXPECT_EQ(runtime.metrics().ticks, ticks);
      EXPECT_TRUE(first.is_completed()) << "served in the call";
      EXPECT_TRUE(channel.is_empty());
      channel.send(2);
      await(r);
      channel.send(3);
      EXPECT_EQ(await(first), 1);
      EXPECT_EQ(await(last), 3);
      EXPECT_EQ(notes, (Notes{"r:2"}));
    }
  });
  EXPECT_EQ(fixture.log, "");
}

MAIN_TEST_F(ChannelFutureTest, CompletesAFutureAtOnceWhenItCan) {
  FERMATA_CHECKS("CHAN-14");
  const Channel<std::unique_ptr<int>> channel("jobs", 1);
  channel.send(std::make_unique<int>(1));
  EXPECT_EQ(*await(channel.recv_async()), 1);
  const Channel<int> meeting("meeting", 0);
  const auto s = spawn_sender(meeting, "s", 2);
  suspend();
  EXPECT_EQ(await(meeting.recv_async()), 2);
  await(s);
  meeting.close();
  EXPECT_EQ(error_of([&] { await(meeting.recv_async()); }), kClosed);
}

MAIN_TEST_F(ChannelFutureTest, TakesNothingForAFutureThatIsGone) {
  FERMATA_CHECKS("CHAN-17");
  const Channel<int> channel("jobs", 0);
  {
    Future<int> dropped = channel.recv_async();
    dropped.ignore();
    const Future<int> cancelled = channel.recv_async();
    EXPECT_EQ(receivers_of(channel), 2u);
    cancelled.cancel();
    EXPECT_EQ(receivers_of(channel), 1u);
    dropped = Future<int>();
    EXPECT_EQ(receivers_of(channel), 0u);
    EXPECT_THROW(await(cancelled), Cancellation);
  }
  EXPECT_FALSE(channel.try_send(1)) << "nobody waits";
  const Future<int> live = channel.recv_async();
  EXPECT_TRUE(channel.try_send(1));
  EXPECT_EQ(await(live), 1);
}

MAIN_TEST_F(ChannelFutureTest, FailsItsFuturesWhenItCloses) {
  FERMATA_CHECKS("CHAN-12");
  Channel<int> channel("jobs", 1);
  const auto waiter = spawn("w", [&, future = channel.recv_async()] {
    note("w", [&] { return std::to_string(await(future)); });
  });
  suspend();
  channel = Channel<int>();
  await(waiter);
  EXPECT_EQ(notes, (Notes{"w!Channel disposed"}));
}

MAIN_TEST_F(ChannelFutureTest, OutlivesASubscriberThatLetsGoOfIt) {
  Channel<int> channel("jobs", 1);
  const Future<int> future = channel.recv_async();
  const Subscription subscription =
      subscribe(future.event(), [&](Event&, const Outcome&) { channel = Channel<int>(); });
  EXPECT_TRUE(channel.try_send(1));
  EXPECT_FALSE(channel);
  EXPECT_EQ(await(future), 1);
}

}  // namespace
}  // namespace fermata::test
