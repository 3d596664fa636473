// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/channel_guard.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/channel.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

std::string reason_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ChannelError& error) {
    return error.what();
  }
  return "";
}

class ChannelGuardTest : public RuntimeFixture {};

MAIN_TEST_F(ChannelGuardTest, ClosesWhenReceiversWaitTooLong) {
  FERMATA_CHECKS("CHAN-18");
  const Channel<int> channel("jobs", 1, {.no_producer_timeout = 20ms});
  const auto busy = spawn([] { delay(1h); });
  const Instant start = now();
  EXPECT_EQ(reason_of([&] { static_cast<void>(channel.recv()); }),
            "Channel deadlock: no producers");
  EXPECT_EQ(now() - start, 20ms);
  busy.cancel();
}

MAIN_TEST_F(ChannelGuardTest, ClosesWhenSendersWaitTooLong) {
  FERMATA_CHECKS("CHAN-18");
  const auto busy = spawn([] { delay(1h); });
  for (const std::size_t capacity : {0u, 1u}) {
    const Channel<int> channel("jobs", capacity, {.no_consumer_timeout = 20ms});
    if (capacity > 0) channel.send(1);
    const Instant start = now();
    EXPECT_EQ(reason_of([&] { channel.send(2); }), "Channel deadlock: no consumers");
    EXPECT_EQ(now() - start, 20ms);
    EXPECT_EQ(channel.count(), capacity) << "what was accepted stays";
  }
  busy.cancel();
}

MAIN_TEST_F(ChannelGuardTest, StartsAnewAtEveryProgress) {
  FERMATA_CHECKS("CHAN-18");
  const Channel<int> channel("jobs", 1, {.no_producer_timeout = 20ms, .hard_timeouts = true});
  const Instant start = now();
  const auto producer = spawn([&] {
    for (int i = 0; i < 3; ++i) {
      delay(15ms);
      channel.send(i);
    }
  });
  const auto other = spawn([&] {
    EXPECT_EQ(reason_of([&] {
                for (;;) static_cast<void>(channel.recv());
              }),
              "Channel deadlock: no producers");
    EXPECT_EQ(now() - start, 65ms);
  });
  EXPECT_EQ(reason_of([&] {
              for (;;) static_cast<void>(channel.recv());
            }),
            "Channel deadlock: no producers");
  EXPECT_EQ(now() - start, 65ms) << "20 ms after the last value";
  await(other);
}

MAIN_TEST_F(ChannelGuardTest, ForgetsWhoLeft) {
  FERMATA_CHECKS("CHAN-18");
  const Channel<int> channel("jobs", 1, {.no_producer_timeout = 20ms});
  EXPECT_THROW(static_cast<void>(channel.recv({.timeout = 15ms})), Timeout);
  EXPECT_THROW(static_cast<void>(channel.recv({.timeout = 15ms})), Timeout);
  delay(30ms);
  EXPECT_FALSE(channel.is_closed());
}

MAIN_TEST_F(ChannelGuardTest, AHardGuardKeepsTheProgramAliveUntilItsTimeHasCome) {
  FERMATA_CHECKS("CHAN-19");
  const Channel<int> channel("jobs", 0, {.no_producer_timeout = 20ms, .hard_timeouts = true});
  const Instant start = now();
  EXPECT_EQ(reason_of([&] { static_cast<void>(channel.recv()); }),
            "Channel deadlock: no producers");
  EXPECT_EQ(now() - start, 20ms);
}

MAIN_TEST_F(ChannelGuardTest, ASoftGuardEndsADeadlockBeforeItIsOne) {
  FERMATA_CHECKS("CHAN-19");
  const Channel<int> jobs("jobs", 0, {.no_producer_timeout = 20ms});
  const Channel<int> results("results", 0, {.no_producer_timeout = 20ms});
  const Instant start = now();
  const auto other = spawn([&] {
    EXPECT_EQ(reason_of([&] { static_cast<void>(results.recv()); }), "Channel deadlock");
  });
  EXPECT_EQ(reason_of([&] { static_cast<void>(jobs.recv()); }), "Channel deadlock");
  EXPECT_EQ(now(), start) << "nobody waits for a time that would change nothing";
  await(other);
  EXPECT_EQ(fixture.log, "");
}

MAIN_TEST_F(ChannelGuardTest, GuardsWhoWaitsForAFuture) {
  FERMATA_CHECKS("CHAN-17", "CHAN-18", "CHAN-19");
  const Channel<int> jobs("jobs", 0, {.no_producer_timeout = 20ms});
  EXPECT_EQ(reason_of([&] { await(jobs.recv_async()); }), "Channel deadlock");
  const Channel<int> others("others", 0, {.no_producer_timeout = 20ms});
  others.recv_async().ignore();
  delay(30ms);
  EXPECT_FALSE(others.is_closed()) << "it was dropped";
}

TEST_F(ChannelGuardTest, WithoutAGuardADeadlockIsADeadlock) {
  FERMATA_CHECKS("CHAN-19");
  EXPECT_THROW(fixture.run([] {
    const Channel<int> channel("jobs", 0, {.no_consumer_timeout = 20ms});
    EXPECT_THROW(static_cast<void>(channel.recv()), Cancellation) << "the other side is guarded";
  }),
               DeadlockError);
}

TEST_F(ChannelGuardTest, AnErrorOfASubscriberEndsTheRun) {
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                const Channel<int> channel("jobs", 0, {.no_producer_timeout = 20ms});
                const Subscription subscription = subscribe(
                    channel.event(), [](Event&, const Outcome&) { throw Error("subscriber"); });
                EXPECT_THROW(static_cast<void>(channel.recv()), Cancellation);
              });
            }),
            "fermata::Error: subscriber");
}

}  // namespace
}  // namespace fermata::test
