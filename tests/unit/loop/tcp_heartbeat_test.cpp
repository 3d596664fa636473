// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/heartbeat.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace fermata::loop {
namespace {

using namespace std::chrono_literals;
using Action = Heartbeat::Action;
using test::error_of;

constexpr Instant kStart{1'000'000'000'000};
const HeartbeatOptions kOptions{
    .ping_after = 10s, .dead_after = 30s, .ping = [](TcpConnection&) {}};

TEST(Heartbeat, PingsASilentPeerAgainAndAgainAndThenGivesUp) {
  Heartbeat heartbeat(kOptions, kStart);
  const Heartbeat::Stamps silent{.received = kStart, .unsent_since = Instant::never()};
  EXPECT_EQ(heartbeat.ask(silent, kStart).again, kStart + 10s);
  EXPECT_EQ(heartbeat.ask(silent, kStart + 10s).action, Action::Ping);
  EXPECT_EQ(heartbeat.ask(silent, kStart + 10s).again, kStart + 20s);
  EXPECT_EQ(heartbeat.ask(silent, kStart + 21s).action, Action::Ping);
  EXPECT_EQ(heartbeat.ask(silent, kStart + 21s).again, kStart + 30s);
  EXPECT_EQ(heartbeat.ask(silent, kStart + 30s).action, Action::Silent);
}

TEST(Heartbeat, CountsFromTheLastByte) {
  Heartbeat heartbeat(kOptions, kStart);
  const Heartbeat::Stamps heard{.received = kStart + 25s, .unsent_since = Instant::never()};
  EXPECT_EQ(heartbeat.ask(heard, kStart + 30s).again, kStart + 35s);
}

TEST(Heartbeat, GivesUpOnBytesThatDoNotGoAway) {
  Heartbeat heartbeat(kOptions, kStart);
  const Heartbeat::Stamps stalled{.received = kStart + 39s, .unsent_since = kStart + 10s};
  EXPECT_EQ(heartbeat.ask(stalled, kStart + 39s).again, kStart + 40s);
  EXPECT_EQ(heartbeat.ask(stalled, kStart + 40s).action, Action::Stalled);
}

TEST(Heartbeat, DoesNotBlameAPeerForWhatIsNotRead) {
  Heartbeat heartbeat({.dead_after = 30s}, kStart);
  const Heartbeat::Stamps paused{
      .received = kStart, .unsent_since = Instant::never(), .paused = true};
  EXPECT_EQ(heartbeat.ask(paused, kStart + 100s).action, Action::Wait);
}

TEST(Heartbeat, RefusesTimesThatMakeNoSense) {
  EXPECT_EQ(error_of([] { HeartbeatOptions{.dead_after = -1s}.check(); }),
            "heartbeat: ping_after 0 ns, dead_after -1000000000 ns: expected no negative time, and "
            "the ping before death");
  EXPECT_NE(
      error_of([] {
        HeartbeatOptions{.ping_after = 2s, .dead_after = 2s, .ping = [](TcpConnection&) {}}.check();
      }),
      "no error");
  EXPECT_EQ(error_of([] { HeartbeatOptions{.ping_after = 2s}.check(); }),
            "heartbeat: expected ping and ping_after to be set together");
}

}  // namespace
}  // namespace fermata::loop
