// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/message_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::bytes_of;
using test::watched_run;
using Fate = Message::Fate;
using Kind = Message::Kind;

std::vector<Message> of_kind(const RunLog& run_log, Kind kind) {
  std::vector<Message> found;
  for (const Message& each : run_log.message_log().messages()) {
    if (each.kind == kind) found.push_back(each);
  }
  return found;
}

std::string text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()};
}

bool recorded(const RunLog& run_log, const std::string& kind, const std::string& machine) {
  return std::any_of(
      run_log.disturbances().begin(), run_log.disturbances().end(),
      [&](const auto& each) { return each.kind == kind && each.machine == machine; });
}

TEST(MessageLog, HasWhatWentOverAConnection) {
  const auto run = watched_run(test::greet);
  ASSERT_FALSE(run.result.failure) << run.result.failure->message;
  const auto connects = of_kind(*run.run_log, Kind::Connect);
  ASSERT_EQ(connects.size(), 1u);
  EXPECT_EQ(connects[0].from, "main");
  EXPECT_EQ(connects[0].to, "server");
  EXPECT_EQ(connects[0].destination.port(), 80);
  EXPECT_EQ(connects[0].fate, Fate::Delivered);
  EXPECT_EQ(connects[0].sent.nanoseconds, 1'000'000);
  EXPECT_EQ(connects[0].arrival - connects[0].sent, 250us);
  EXPECT_EQ(connects[0].answered - connects[0].arrival, 250us);
  const auto data = of_kind(*run.run_log, Kind::Data);
  ASSERT_EQ(data.size(), 2u);
  EXPECT_EQ(text_of(data[0]), "hello");
  EXPECT_EQ(text_of(data[1]), "welcome");
  EXPECT_EQ(data[1].from, "server");
  EXPECT_FALSE(data[1].from_client);
  EXPECT_EQ(of_kind(*run.run_log, Kind::End).size(), 2u);
  for (const Message& each : run.run_log->message_log().messages()) {
    EXPECT_EQ(each.connection, connects[0].connection);
  }
}

TEST(MessageLog, SaysInWhichStepItWasSent) {
  const auto run = watched_run(test::greet);
  const auto data = of_kind(*run.run_log, Kind::Data);
  ASSERT_TRUE(data[0].step);
  const RunLog::Step& step = run.run_log->steps()[*data[0].step];
  EXPECT_EQ(run.run_log->lanes()[step.lane].machine, "main");
  EXPECT_EQ(step.at, data[0].sent);
}

TEST(MessageLog, AConnectThatNobodyTakesIsRefused) {
  const auto run = watched_run(test::be_refused);
  const auto connects = of_kind(*run.run_log, Kind::Connect);
  ASSERT_EQ(connects.size(), 1u);
  EXPECT_EQ(connects[0].fate, Fate::Refused);
  EXPECT_EQ(run.run_log->message_log().messages().size(), 1u);
  EXPECT_NE(connects[0].arrival, Instant::never());
}

TEST(MessageLog, WhatACutLinkKeepsArrivesLater) {
  const auto run = watched_run([](World& world) {
    world.node("server", test::serve);
    delay(1ms);
    TcpStream stream = TcpStream::connect(world.node("server").address(80));
    world.link("main", "server").cut();
    stream.write(bytes_of("hello"));
    delay(1s);
    world.link("main", "server").mend();
    std::array<std::byte, 64> buffer;
    stream.read(buffer);
    stream.close();
    world.run();
  });
  ASSERT_FALSE(run.result.failure) << run.result.failure->message;
  const Message hello = of_kind(*run.run_log, Kind::Data).front();
  EXPECT_EQ(hello.fate, Fate::Delivered);
  EXPECT_GT(hello.arrival - hello.sent, 1s);
  EXPECT_TRUE(recorded(*run.run_log, "partition", "main"));
  EXPECT_TRUE(recorded(*run.run_log, "heal", "server"));
}

TEST(MessageLog, WhatIsUnderWayToAMachineThatCrashesIsLost) {
  const auto run = watched_run([](World& world) {
    Node& server = world.node("server", test::serve);
    delay(1ms);
    TcpStream stream = TcpStream::connect(server.address(80));
    stream.write(bytes_of("hello"));
    server.crash();
    delay(1s);
    server.restart();
    delay(1s);
    stream.close();
    server.crash();
  });
  const Message hello = of_kind(*run.run_log, Kind::Data).front();
  EXPECT_EQ(hello.fate, Fate::Lost);
  EXPECT_EQ(hello.arrival, Instant::never());
  EXPECT_TRUE(recorded(*run.run_log, "crash", "server"));
  EXPECT_TRUE(recorded(*run.run_log, "restart", "server"));
}

TEST(MessageLog, DatagramsArriveOrAreLost) {
  const auto run = watched_run(test::scatter);
  ASSERT_FALSE(run.result.failure) << run.result.failure->message;
  const auto sent = of_kind(*run.run_log, Kind::Datagram);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].fate, Fate::Delivered);
  EXPECT_EQ(sent[0].arrival - sent[0].sent, 250us);
  EXPECT_EQ(sent[0].source.port(), 1234);
  EXPECT_EQ(sent[1].fate, Fate::Lost);
  EXPECT_EQ(sent[2].fate, Fate::Lost);
}

TEST(MessageLog, KnowsWhatTheFaultsOfDatagramsDid) {
  WorldOptions options;
  options.faults = FaultSet::parse("datagram-loss,datagram-duplicate");
  std::size_t lost = 0;
  std::size_t doubled = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto run = watched_run(
        [](World& world) {
          world.node("server", [] {
            UdpSocket socket = UdpSocket::bind({"0.0.0.0", 53});
            delay(1s);
          });
          delay(1ms);
          UdpSocket socket = UdpSocket::bind({"0.0.0.0", 1234});
          for (int i = 0; i < 20; ++i)
            socket.send_to(bytes_of("x"), world.node("server").address(53));
          world.run();
        },
        options, seed);
    for (const Message& each : of_kind(*run.run_log, Kind::Datagram)) {
      lost += each.fate == Fate::Lost ? 1 : 0;
      doubled += each.fate == Fate::Duplicate ? 1 : 0;
    }
  }
  EXPECT_GT(lost, 0u);
  EXPECT_GT(doubled, 0u);
}

TEST(MessageLog, WatchingChangesNothing) {
  Program program;
  program.body = test::greet;
  for (const char* strategy : {"random", "pct:3", "fifo"}) {
    Runner runner(program, strategy, WorldOptions{});
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      runner.set_recording(false);
      const RunResult alone = runner.run(seed);
      runner.set_recording(true);
      EXPECT_TRUE(runner.run(seed).same_run(alone)) << strategy << ' ' << seed;
    }
  }
}

TEST(MessageLog, TellsOfPausesAndClocks) {
  const auto run = watched_run([](World& world) {
    Node& other = world.node("other", [] { delay(1s); });
    other.pause();
    delay(1ms);
    other.resume();
    other.step_wall_clock(1h);
    other.set_clock_drift(100);
    world.run();
  });
  for (const char* kind : {"pause", "resume", "clock"}) {
    EXPECT_TRUE(recorded(*run.run_log, kind, "other")) << kind;
  }
}

TEST(MessageLog, ForgetsTheOldestMessages) {
  MessageLog message_log;
  for (std::size_t i = 0; i < MessageLog::kMostMessages + 3; ++i) message_log.sent(Message());
  EXPECT_EQ(message_log.messages().size(), MessageLog::kMostMessages);
  EXPECT_EQ(message_log.forgotten(), 3u);
  message_log.became(1, Fate::Lost, Instant::never());
  EXPECT_EQ(message_log.messages().front().fate, Fate::UnderWay);
  message_log.became(4, Fate::Lost, Instant::never());
  EXPECT_EQ(message_log.messages().front().fate, Fate::Lost);
}

TEST(MessageLog, KeepsABoundedPartOfTheBytes) {
  MessageLog message_log;
  const std::vector<std::byte> bytes(2 * MessageLog::kMostBytes);
  Message message;
  message.connection = 7;
  message.kind = Kind::Connect;
  message_log.became(message_log.sent(message), Fate::Delivered, Instant());
  message.kind = Kind::Data;
  constexpr std::size_t kCount = MessageLog::kMostInAll / MessageLog::kMostBytes + 2;
  for (std::size_t i = 0; i < kCount; ++i) message_log.sent(message, bytes.data(), bytes.size());
  EXPECT_EQ(message_log.messages()[1].bytes.size(), MessageLog::kMostBytes);
  EXPECT_EQ(message_log.messages().back().bytes.size(), 0u);
  EXPECT_EQ(message_log.messages().back().size, bytes.size());
  EXPECT_EQ(message_log.messages().back().offset, (kCount - 1) * bytes.size());
}

}  // namespace
}  // namespace fermata::sim
