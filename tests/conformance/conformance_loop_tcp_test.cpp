// SPDX-License-Identifier: Apache-2.0
//
// X32 to X35, X40, X41 and X46 of the additions: TCP connections.

#include <array>
#include <optional>

#include "fermata/loop/tcp/connection.hpp"
#include "fermata/loop/tcp/server.hpp"
#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

using namespace loop;

class LoopTcp : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopTcp, every_arm(), arm_name);

const Address kAnyPort{"127.0.0.1", 0};

/// A server for one connection, which ends with it.
class OneConnection {
 public:
  OneConnection(LoopArm& arm, TcpHandlers handlers, TcpOptions options = {})
      : server_(arm.loop(), kAnyPort, finished(std::move(handlers)), {.connection = options}) {}

  [[nodiscard]] const Address& address() const { return server_.local_address(); }
  [[nodiscard]] int close_count() const noexcept { return closed_; }

 private:
  TcpHandlers finished(TcpHandlers handlers) {
    handlers.on_close = [this, then = handlers.on_close](TcpConnection& connection) {
      ++closed_;
      if (then) then(connection);
      server_.stop(0s);
    };
    return handlers;
  }

  int closed_ = 0;
  TcpServer server_;
};

LOOP_CASE(LoopTcp, FullOnceForEachCrossingAndDrainOnceAtTheLowMark) {
  std::string order;
  const std::string chunk(64 * 1024, 'x');
  const auto fill = [&](TcpConnection& who) {
    while (who.send(chunk) != SendResult::RefusedFull && !who.is_full()) {
    }
    who.send(chunk);  // Refused, and no second crossing.
  };
  int rounds = 0;
  OneConnection server(arm,
                       {.on_connect = fill,
                        .on_full = [&](TcpConnection&) { order += 'f'; },
                        .on_drain =
                            [&](TcpConnection& who) {
                              order += 'd';
                              EXPECT_LE(who.queued(), 256u * 1024);
                              ++rounds < 2 ? fill(who) : who.close();
                            }},
                       {.marks = {.high = 1024 * 1024, .low = 256 * 1024}});
  TcpConnection::connect(loop, server.address(), {});
  arm.drive();
  EXPECT_EQ(order, "fdfd");
  EXPECT_EQ(server.close_count(), 1);
}

LOOP_CASE(LoopTcp, CloseSendsWhatIsQueuedAndRefusesTheRest) {
  constexpr std::size_t kBytes = std::size_t{5} << 20;
  std::size_t received = 0;
  std::optional<SendResult> late;
  int client_closed = 0;
  OneConnection server(arm,
                       {.on_connect =
                            [&](TcpConnection& who) {
                              who.send(std::string(kBytes, 'x'));
                              who.close("end");
                              late = who.send("late");
                            }},
                       {.marks = {.high = 2 * kBytes, .low = kBytes}});
  TcpConnection::connect(
      loop, server.address(),
      {.on_message = [&](TcpConnection&, std::string_view bytes) { received += bytes.size(); },
       .on_close = [&](TcpConnection&) { ++client_closed; }});
  arm.drive();
  EXPECT_EQ(received, kBytes + 3);
  EXPECT_EQ(late, SendResult::RefusedClosed);
  EXPECT_EQ(server.close_count(), 1);
  EXPECT_EQ(client_closed, 1);
}

LOOP_CASE(LoopTcp, APeerThatGoesOnSendingGetsAllThatWasQueuedBeforeTheClose) {
  constexpr std::size_t kBytes = std::size_t{512} << 10;
  std::string order;
  std::size_t received = 0;
  OneConnection server(arm,
                       {.on_message =
                            [&](TcpConnection& who, std::string_view) {
                              who.send(std::string(kBytes, 'x'));
                              who.close();
                            },
                        .on_error = [&](TcpConnection&, const TcpFailure&) { order += 'e'; },
                        .on_close = [&](TcpConnection&) { order += 's'; }},
                       {.marks = {.high = 2 * kBytes, .low = kBytes}, .read_budget = 1});
  TcpClientOptions options;
  options.marks = {.high = 2 * kBytes, .low = kBytes};
  options.read_chunk = 4096;
  TcpConnection::connect(
      loop, server.address(),
      {.on_connect = [](TcpConnection& who) { who.send(std::string(300'000, 'q')); },
       .on_message =
           [&](TcpConnection& who, std::string_view bytes) {
             received += bytes.size();
             who.send("and again");
             who.pause_receiving();  // Most of it waits in the system.
             loop.delay(1ms, [&who] { who.resume_receiving(); });
           },
       .on_error = [&](TcpConnection&, const TcpFailure&) { order += 'E'; },
       .on_close = [&](TcpConnection&) { order += 'c'; }},
      options);
  arm.drive();
  EXPECT_EQ(received, kBytes);
  EXPECT_TRUE(order == "sc" || order == "cs") << order;
  EXPECT_EQ(loop.timer_count(), 0u);
}

/// Never knows a length, or says that it is negative.
class BrokenFraming final : public Framing {
 public:
  explicit BrokenFraming(std::int64_t length) : length_(length) {}
  std::int64_t frame_length(std::string_view) override { return length_; }

 private:
  std::int64_t length_;
};

/// What a server with packages of up to 1,000 bytes tells when `bytes` come.
void breaks(LoopArm& arm, std::function<FramingPtr()> framing, const std::string& bytes) {
  std::string order;
  OneConnection server(arm,
                       {.on_message = [&](TcpConnection&, std::string_view) { order += 'm'; },
                        .on_error =
                            [&](TcpConnection&, const TcpFailure& failure) {
                              order += failure.kind == TcpFailureKind::Protocol ? 'p' : '?';
                            },
                        .on_close = [&](TcpConnection&) { order += 'c'; }},
                       {.framing = std::move(framing), .package_max = 1000});
  TcpConnection::connect(arm.loop(), server.address(),
                         {.on_connect = [&](TcpConnection& who) { who.send(bytes); }});
  arm.drive();
  EXPECT_EQ(order, "pc");
}

std::string header(std::uint32_t length) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(length >> shift & 0xff);
  return bytes;
}

LOOP_CASE(LoopTcp, AFrameThatIsNoneBreaksTheConnection) {
  const auto by_length = [] { return std::make_unique<LengthFraming>(); };
  for (const std::uint32_t length : {0u, 1u, 2u, 3u, 1001u, 0xffff'ffffu}) {
    SCOPED_TRACE(length);
    breaks(arm, by_length, header(length) + "body");
  }
  breaks(
      arm, [] { return std::make_unique<BrokenFraming>(-1); }, "x");
  breaks(
      arm, [] { return std::make_unique<BrokenFraming>(0); }, std::string(5000, 'x'));
  breaks(
      arm, [] { return std::make_unique<LineFraming>(); }, std::string(5000, 'x'));
}

LOOP_CASE(LoopTcp, ASilentPeerIsPingedAndThenTakenForDead) {
  std::string order;
  Instant established;
  Instant dead;
  const std::size_t timers_before = loop.timer_count();
  TcpOptions options;
  options.heartbeat.ping_after = 20ms;
  options.heartbeat.dead_after = 50ms;
  options.heartbeat.ping = [&](TcpConnection& who) {
    order += 'p';
    who.send("ping");
  };
  OneConnection server(arm,
                       {.on_connect = [&](TcpConnection&) { established = now(); },
                        .on_error =
                            [&](TcpConnection&, const TcpFailure& failure) {
                              order += failure.kind == TcpFailureKind::Silence ? 's' : '?';
                              dead = now();
                            },
                        .on_close = [&](TcpConnection&) { order += 'c'; }},
                       options);
  TcpConnection::connect(loop, server.address(), {});
  arm.drive();
  EXPECT_TRUE(order == "ppsc" || (!arm.is_exact() && order == "psc")) << order;
  EXPECT_GE(dead - established, 45ms);
  EXPECT_LE(dead - established, 50ms + arm.slack());
  EXPECT_EQ(loop.timer_count(), timers_before);
}

/// What a handler may throw; a Cancellation that nobody has asked for is an error like others.
const std::array<std::function<void()>, 3> kThrowers = {
    [] { throw Planned("planned"); }, [] { throw 42; }, [] { throw Cancellation("planned"); }};

LOOP_CASE(LoopTcp, WhateverAHandlerThrowsEndsItsConnectionOrIsTheLoops) {
  const CallbackId too_long = loop.delay(5s, [&] {
    ADD_FAILURE() << "a connection has come to a standstill";
    loop.stop();
  });
  loop.unreference(too_long);
  for (const HandlerErrors errors : {HandlerErrors::EndConnection, HandlerErrors::ToLoop}) {
    for (std::size_t thrower = 0; thrower < kThrowers.size(); ++thrower) {
      SCOPED_TRACE(::testing::Message() << "thrower " << thrower);
      std::string order;
      loop.set_error_handler([&](std::exception_ptr) { order += 'L'; });
      const auto fails = [&](char name) {
        order += name;
        kThrowers[thrower]();
      };
      OneConnection server(
          arm,
          {.on_connect = [&](TcpConnection&) { fails('c'); },
           .on_message = [&](TcpConnection&, std::string_view line) { fails(line.at(0)); },
           .on_end = [&](TcpConnection& who) { who.close(); },
           .on_error =
               [&](TcpConnection&, const TcpFailure& failure) {
                 EXPECT_EQ(failure.kind, TcpFailureKind::Handler);
                 EXPECT_EQ(failure.detail, thrower == 0 ? "planned" : "int");
                 order += 'e';
               },
           .on_close = [&](TcpConnection&) { order += 'x'; }},
          {.framing = [] { return std::make_unique<LineFraming>(); },
           .allow_half_open = true,
           .handler_errors = errors});
      TcpConnection::connect(loop, server.address(), {.on_connect = [](TcpConnection& who) {
                               who.send("m\nn\n");
                               who.shutdown_write();
                             }});
      arm.drive();
      // A Cancellation is never the connection's: it may be the loop's own end.
      const bool is_told = errors == HandlerErrors::EndConnection && thrower != 2;
      EXPECT_EQ(order, is_told ? "cex" : "cLmLnLx");
    }
  }
  loop.cancel(too_long);
  loop.set_error_handler(nullptr);
}

/// Throws a number for a frame, or in its header.
class ThrowingFraming final : public Framing {
 public:
  explicit ThrowingFraming(bool in_header) : in_header_(in_header) {}
  std::int64_t frame_length(std::string_view bytes) override {
    if (in_header_) throw 42;
    return static_cast<std::int64_t>(bytes.size());
  }
  std::string_view decode(std::string_view) override { throw 42; }

 private:
  bool in_header_;
};

LOOP_CASE(LoopTcp, WhateverAFramingThrowsBreaksTheConnection) {
  for (const bool in_header : {true, false}) {
    breaks(
        arm, [in_header] { return std::make_unique<ThrowingFraming>(in_header); }, "x");
  }
}

}  // namespace
}  // namespace fermata::conformance
