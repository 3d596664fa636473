// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/server.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/tcp_stage.hpp"

namespace fermata::loop {
namespace {

using namespace std::chrono_literals;
using namespace test;

template <class Arm>
class LoopTcpServer : public ::testing::Test {};
TYPED_TEST_SUITE(LoopTcpServer, conformance::PollableArms);

MAIN_TYPED_TEST(LoopTcpServer, ServesManyAndForgetsThemWhenTheyClose) {
  constexpr int kPeers = 100;
  int closed = 0;
  Loop loop;
  TcpHandlers handlers;
  handlers.on_message = [](TcpConnection& who, std::string_view message) {
    static_cast<void>(who.send(message));
  };
  TcpServer server(loop, kAnyPort, handlers,
                   {.listen = {.accepts_per_turn = 3}, .connection = {.framing = lines}});
  std::vector<Coroutine<>> peers;
  for (int i = 0; i < kPeers; ++i) {
    peers.push_back(peer_of(server.local_address(), [&](TcpStream& stream) {
      write_text(stream, "hello\n");
      stream.shutdown_write();
      EXPECT_EQ(read_text(stream), "hello\n");
      if (++closed == kPeers) server.stop(1s);
    }));
  }
  loop.run();
  for (const auto& peer : peers) await(peer);
  EXPECT_EQ(server.counters().accepted, std::uint64_t{kPeers});
  EXPECT_EQ(server.counters().closed, std::uint64_t{kPeers});
  EXPECT_EQ(server.counters().traffic.messages_received, std::uint64_t{kPeers});
  EXPECT_EQ(server.connection_count(), 0u);
  EXPECT_EQ(loop.timer_count(), 0u);
}

MAIN_TYPED_TEST(LoopTcpServer, GoesOnAcceptingWhenAFramingCannotBeMade) {
  Loop loop;
  Told told;
  int made = 0;
  std::vector<std::string> errors;
  loop.set_error_handler([&](std::exception_ptr error) { errors.push_back(message_of(error)); });
  TcpServerOptions options;
  options.connection.framing = [&] {
    if (++made == 1) throw std::runtime_error("no framing");
    return lines();
  };
  TcpServer server(loop, kAnyPort, told.handlers([&](auto&, const std::string& line) {
    if (line == "close") server.stop(0s);
  }),
                   options);
  const auto peers = spawn([&] {
    await(peer_of(server.local_address(), [](TcpStream& stream) { read_text(stream); }));
    await(peer_of(server.local_address(), [](TcpStream& s) { write_text(s, "hello\n"); }));
  });
  loop.run();
  await(peers);
  EXPECT_EQ(errors, (std::vector<std::string>{"no framing"}));
  EXPECT_EQ(told.lines(), (Lines{"connect", "message hello", "close"}));
}

MAIN_TYPED_TEST(LoopTcpServer, AnOnConnectThatThrowsEndsItsConnectionOnly) {
  Loop loop;
  Told told;
  int connected = 0;
  TcpServer server(loop, kAnyPort, told.handlers([&](TcpConnection& who, const std::string& line) {
    if (line == "connect" && ++connected == 1) throw std::runtime_error("no");
    if (line == "connect") who.close("welcome");
  }));
  auto peers = spawn("peers", [&] {
    for (const char* expected : {"", "welcome"}) {
      TcpStream stream = TcpStream::connect(server.local_address());
      EXPECT_EQ(read_text(stream), expected);
    }
    server.stop(1s);
  });
  loop.run();
  await(peers);
  EXPECT_EQ(told.lines(), (Lines{"connect", "error handler", "close", "connect", "close"}));
  EXPECT_EQ(server.connection_count(), 0u);
}

MAIN_TYPED_TEST(LoopTcpServer, AcceptsNobodyWhilePaused) {
  Loop loop;
  Told told;
  bool paused = true;
  TcpServer server(loop, kAnyPort, told.handlers([&](TcpConnection&, const std::string& line) {
    EXPECT_FALSE(paused) << line;
    if (line == "connect") server.stop(0s);
  }));
  server.pause_accept();
  auto peer = peer_of(server.local_address(), [](TcpStream& stream) { read_text(stream); });
  loop.delay(20ms, [&] {
    paused = false;
    server.resume_accept();
  });
  loop.run();
  await(peer);
  EXPECT_EQ(told.lines(), (Lines{"connect", "close"}));
}

MAIN_TYPED_TEST(LoopTcpServer, AGracefulStopClosesTheIdleAndWaitsForTheBusy) {
  Loop loop;
  std::vector<std::string> order;
  TcpHandlers handlers;
  std::function<void()> stop;
  handlers.on_message = [&](TcpConnection& who, std::string_view) {
    who.set_busy(true);
    loop.delay(1ms, stop);  // The idle one has been accepted before.
    loop.delay(30ms, [&, self = who.shared_from_this()] {
      order.push_back("answered");
      static_cast<void>(self->send("answer"));
      self->set_busy(false);
    });
  };
  handlers.on_close = [&](TcpConnection&) { order.push_back("closed"); };
  TcpServer server(loop, kAnyPort, handlers, {.connection = {.framing = lines}});
  const auto read = [](TcpStream& stream) { EXPECT_EQ(read_text(stream), ""); };
  auto idle = peer_of(server.local_address(), read);
  auto busy = peer_of(server.local_address(), [](TcpStream& stream) {
    write_text(stream, "question\n");
    EXPECT_EQ(read_text(stream), "answer\n");
  });
  stop = [&] {
    server.stop(10s, [&] { order.push_back("stopped"); });
    EXPECT_FALSE(server.is_listening());
  };
  loop.run();
  await(idle);
  await(busy);
  EXPECT_EQ(order, (std::vector<std::string>{"closed", "answered", "closed", "stopped"}));
  EXPECT_EQ(loop.timer_count(), 0u);
}

MAIN_TYPED_TEST(LoopTcpServer, AtTheDeadlineOfAStopTheRestIsDestroyed) {
  Loop loop;
  Told told;
  bool stopped = false;
  TcpServer server(loop, kAnyPort, told.handlers([](TcpConnection& who, const std::string& line) {
    if (line == "connect") who.set_busy(true);
  }));
  auto peer = peer_of(server.local_address(), [](TcpStream& stream) { read_text(stream); });
  loop.delay(10ms, [&] { server.stop(20ms, [&] { stopped = true; }); });
  loop.run();
  await(peer);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(told.lines(), (Lines{"connect", "close"}));
}

MAIN_TYPED_TEST(LoopTcpServer, SaysWhichPortIsInUse) {
  Loop loop;
  TcpServer first(loop, kAnyPort, {});
  const std::string error =
      error_of([&] { const TcpServer second(loop, first.local_address(), {}); });
  EXPECT_NE(error.find(first.local_address().text()), std::string::npos) << error;
  EXPECT_TRUE(first.is_listening());
}

MAIN_TYPED_TEST(LoopTcpServer, ItsEndClosesConnectionsWithoutAWord) {
  Loop loop;
  Told told;
  auto server = std::make_unique<TcpServer>(loop, kAnyPort, told.handlers());
  auto peer = peer_of(server->local_address(), [](TcpStream& stream) { read_text(stream); });
  loop.delay(10ms, [&] { server.reset(); });
  loop.run();
  await(peer);
  EXPECT_EQ(told.lines(), (Lines{"connect"}));
}

}  // namespace
}  // namespace fermata::loop
