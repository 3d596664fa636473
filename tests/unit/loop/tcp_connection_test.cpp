// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/connection.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <limits>
#include <memory>
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
class LoopTcpConnection : public ::testing::Test {};
TYPED_TEST_SUITE(LoopTcpConnection, conformance::PollableArms);

/// Where nobody listens.
Address nowhere() {
  TcpListener nobody = TcpListener::bind(kAnyPort);
  const Address address = nobody.local_address();
  nobody.close();
  return address;
}

/// A server on a port of its own; it is stopped when its first connection has closed.
struct Stage {
  explicit Stage(TcpOptions options = {},
                 std::function<void(TcpConnection&, const std::string&)> then = {})
      : server(loop, kAnyPort, told.handlers([this, then](auto& who, const std::string& line) {
          connection = who.weak_from_this();
          if (then) then(who, line);
          if (line == "close") server.stop(0s);
        }),
               {.connection = std::move(options)}) {}

  [[nodiscard]] Coroutine<> peer(std::function<void(TcpStream&)> act) {
    return peer_of(server.local_address(), std::move(act));
  }
  /// Until the connection is closed and `peer` has ended.
  void run(Coroutine<> peer) {
    EXPECT_FALSE(loop.run().stopped);
    await(peer);
    EXPECT_EQ(loop.timer_count(), 0u);
  }

  Loop loop;
  Told told;
  std::weak_ptr<TcpConnection> connection;
  TcpServer server;
};

MAIN_TYPED_TEST(LoopTcpConnection, HandsOverBytesAsTheyComeWithoutAFraming) {
  std::string echoed;
  Stage stage({}, [](TcpConnection& who, const std::string& line) {
    if (line.starts_with("message ")) {
      EXPECT_EQ(who.send(line.substr(8)), SendResult::Sent);
    }
  });
  stage.run(stage.peer([&](TcpStream& stream) {
    write_text(stream, "hello");
    stream.shutdown_write();
    echoed = read_text(stream);
  }));
  EXPECT_EQ(echoed, "hello");
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "message hello", "close"}));
  EXPECT_EQ(stage.server.counters().traffic.bytes_received, 5u);
  EXPECT_EQ(stage.server.counters().traffic.bytes_sent, 5u);
}

MAIN_TYPED_TEST(LoopTcpConnection, CutsMessagesOfOneReadApart) {
  Stage stage({.framing = lines});
  stage.run(stage.peer([](TcpStream& stream) {
    write_text(stream, "one\ntwo\nthr");
    write_text(stream, "ee\n");
  }));
  EXPECT_EQ(stage.told.lines(),
            (Lines{"connect", "message one", "message two", "message three", "close"}));
}

TYPED_TEST(LoopTcpConnection, BreaksOffFramesThatAreNone) {
  const std::vector<std::pair<FramingPtr (*)(), std::string>> bad{
      {lengths, std::string("\0\0\0\0", 4)},   // No room for the header itself.
      {lengths, std::string("\0\0\0\3x", 5)},  //
      {lengths, std::string("\0\1\0\0", 4)},   // 65,536 bytes.
      {lines, std::string(101, 'x')},          // No end within a package.
      {lines, std::string(100, 'x') + '\n'},
      {[] {
         struct Negative final : Framing {
           std::int64_t frame_length(std::string_view) override { return -1; }
         };
         return FramingPtr(new Negative);
       },
       "x"},
  };
  for (const auto& [framing, bytes] : bad) {
    TypeParam::run([framing = framing, bytes = bytes] {
      Stage stage({.framing = framing, .package_max = 100});
      stage.run(stage.peer([&](TcpStream& stream) {
        write_text(stream, bytes);
        read_text(stream);
      }));
      EXPECT_EQ(stage.told.lines(), (Lines{"connect", "error protocol", "close"}));
    });
  }
}

MAIN_TYPED_TEST(LoopTcpConnection, TakesAFrameOfTheGreatestLength) {
  Stage stage({.framing = lines, .package_max = 100});
  stage.run(stage.peer([](TcpStream& s) { write_text(s, std::string(99, 'x') + '\n'); }));
  EXPECT_EQ(stage.told.count("message " + std::string(99, 'x')), 1u);
}

MAIN_TYPED_TEST(LoopTcpConnection, TakesAnyFrameWithoutALimit) {
  Stage stage({.framing = lines, .package_max = std::numeric_limits<std::size_t>::max()});
  stage.run(stage.peer([](TcpStream& stream) { write_text(stream, "hello\n"); }));
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "message hello", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, TellsFullOnceAndDrainOnce) {
  std::vector<SendResult> results;
  std::size_t received = 0;
  std::size_t accepted = 0;
  Stage stage({.marks = {.high = 1 << 20, .low = 1 << 16}},
              [&](TcpConnection& who, const std::string& line) {
                if (line == "connect") {
                  const std::string chunk(1 << 18, 'x');
                  do {
                    results.push_back(who.send(chunk));
                    if (results.back() != SendResult::RefusedFull) accepted += chunk.size();
                  } while (results.back() != SendResult::RefusedFull);
                  EXPECT_TRUE(who.is_full());
                  EXPECT_LT(who.queued(), (1u << 20) + (1u << 18));
                } else if (line == "flushed") {
                  who.close();
                  EXPECT_EQ(who.send("late"), SendResult::RefusedClosed);
                }
              });
  stage.run(stage.peer([&](TcpStream& stream) {
    delay(20ms);
    received = read_text(stream).size();
  }));
  EXPECT_EQ(received, accepted);
  EXPECT_EQ(stage.told.lines(),
            (Lines{"connect", "full", "error refused", "drain", "flushed", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, FlushesFiveMebibytesBeforeItCloses) {
  constexpr std::size_t kSize = std::size_t{5} << 20;
  std::string got;
  Stage stage({.marks = {.high = 2 * kSize, .low = 1}},
              [&](TcpConnection& who, const std::string& line) {
                if (line != "connect") return;
                EXPECT_EQ(who.send(std::string(kSize, 'x')), SendResult::Queued);
                who.close("the end");
                EXPECT_EQ(who.state(), TcpState::Closing);
                EXPECT_EQ(who.send("late"), SendResult::RefusedClosed);
              });
  stage.run(stage.peer([&](TcpStream& stream) { got = read_text(stream); }));
  EXPECT_EQ(got, std::string(kSize, 'x') + "the end");
  EXPECT_EQ(stage.told.count("close"), 1u);
  EXPECT_EQ(stage.told.lines().back(), "close");
}

MAIN_TYPED_TEST(LoopTcpConnection, GivesUpFlushingAtTheDeadline) {
  Stage stage({.marks = {.high = 64 << 20, .low = 1}, .flush_deadline = 50ms},
              [&](TcpConnection& who, const std::string& line) {
                if (line != "connect") return;
                static_cast<void>(who.send(std::string(32 << 20, 'x')));
                who.close();
              });
  stage.run(stage.peer([&](TcpStream&) {
    while (stage.told.count("close") == 0) delay(5ms);
  }));
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "error flush-timeout", "close"}));
}

TYPED_TEST(LoopTcpConnection, LingersForAPeerThatDoesNotEndUntilTheDeadline) {
  for (const Duration linger : {Duration(20ms), Duration(0)}) {
    TypeParam::run([linger] {
      Instant closed_at;
      Stage stage({.linger_deadline = linger}, [&](TcpConnection& who, const std::string& line) {
        if (line != "connect") return;
        closed_at = now();
        who.close();
        EXPECT_EQ(who.state(), linger > 0ms ? TcpState::Closing : TcpState::Closed);
      });
      stage.run(stage.peer([&](TcpStream& stream) {
        EXPECT_EQ(read_text(stream), "");
        while (stage.told.count("close") == 0) delay(1ms);
        EXPECT_GE(now() - closed_at, linger);
      }));
      EXPECT_EQ(stage.told.lines(), (Lines{"connect", "close"}));
    });
  }
}

MAIN_TYPED_TEST(LoopTcpConnection, APeerThatBreaksOffWhileItLingersIsNoError) {
  Stage stage({}, [](TcpConnection& who, const std::string& line) {
    if (line == "connect") who.close("the end");
  });
  stage.run(stage.peer([](TcpStream& stream) {
    EXPECT_EQ(read_text(stream), "the end");
    stream.reset();
  }));
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, GoesOnSendingAfterThePeersEndWhenHalfOpen) {
  std::string got;
  Stage stage({.framing = lines, .allow_half_open = true},
              [](TcpConnection& who, const std::string& line) {
                if (line != "end") return;
                EXPECT_EQ(who.send("answer"), SendResult::Sent);
                who.shutdown_write();
                EXPECT_EQ(who.send("late"), SendResult::RefusedClosed);
              });
  stage.run(stage.peer([&](TcpStream& stream) {
    write_text(stream, "question\n");
    stream.shutdown_write();
    got = read_text(stream);
  }));
  EXPECT_EQ(got, "answer\n");
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "message question", "end", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, DestroyLosesWhatIsQueuedAndTellsCloseOnce) {
  Stage stage({.framing = lines}, [](TcpConnection& who, const std::string& line) {
    if (!line.starts_with("message")) return;
    const Address before = who.peer_address();
    who.destroy();
    who.destroy();
    who.close("late");
    EXPECT_EQ(who.state(), TcpState::Closed);
    EXPECT_EQ(who.send("late"), SendResult::RefusedClosed);
    EXPECT_EQ(who.peer_address(), before);
  });
  stage.run(stage.peer([](TcpStream& stream) {
    write_text(stream, "one\ntwo\n");
    read_text(stream);
  }));
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "message one", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, DeliversNothingWhilePausedAndNothingFromInsideResume) {
  bool inside = false;
  bool was_paused = false;
  Told told;
  Loop loop;
  TcpServer server(loop, kAnyPort, told.handlers([&](TcpConnection& who, const std::string& line) {
    EXPECT_FALSE(inside);
    if (line == "message one") {
      inside = true;
      who.pause_receiving();
      who.resume_receiving();
      who.pause_receiving();
      inside = false;
      loop.delay(20ms, [&, self = who.shared_from_this()] {
        was_paused = told.count("message two") == 0;
        self->resume_receiving();
      });
    }
    if (line == "close") server.stop(0s);
  }),
                   {.connection = {.framing = lines}});
  auto peer = peer_of(server.local_address(), [](TcpStream& s) { write_text(s, "one\ntwo\n"); });
  loop.run();
  await(peer);
  EXPECT_TRUE(was_paused);
  EXPECT_EQ(told.lines(), (Lines{"connect", "message one", "message two", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, RawBytesComeOnceThoughTheHandlerPausesAndResumes) {
  std::string all;
  Stage stage({}, [&](TcpConnection& who, const std::string& line) {
    if (!line.starts_with("message ")) return;
    who.pause_receiving();
    all += line.substr(8);
    who.resume_receiving();
  });
  stage.run(stage.peer([](TcpStream& stream) { write_text(stream, "abc"); }));
  EXPECT_EQ(all, "abc");
}

MAIN_TYPED_TEST(LoopTcpConnection, ASuspendedHandlerHoldsBackTheNextMessage) {
  bool busy = false;
  Stage stage({.framing = lines}, [&](TcpConnection&, const std::string& line) {
    if (!line.starts_with("message")) return;
    EXPECT_FALSE(std::exchange(busy, true));
    delay(5ms);
    busy = false;
  });
  stage.run(stage.peer([](TcpStream& stream) {
    write_text(stream, "one\n");
    delay(2ms);
    write_text(stream, "two\n");
  }));
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "message one", "message two", "close"}));
}

TYPED_TEST(LoopTcpConnection, ASuspendedHandlerDoesNotHoldUpWhatIsSent) {
  for (const bool closing : {false, true}) {
    TypeParam::run([closing] {
      constexpr std::size_t kSize = std::size_t{8} << 20;
      std::size_t got = 0;
      Suspension waiting;
      Stage stage({.marks = {.high = 2 * kSize, .low = 1}},
                  [&](TcpConnection& who, const std::string& line) {
                    if (line == "connect") {
                      EXPECT_EQ(who.send(std::string(kSize, 'x')), SendResult::Queued);
                      if (closing) who.close();
                      waiting = who.loop().suspension();
                      waiting.suspend();
                      who.close();
                    } else if (line == (closing ? "close" : "flushed")) {
                      waiting.resume();
                    }
                  });
      stage.run(stage.peer([&](TcpStream& stream) { got = read_text(stream).size(); }));
      EXPECT_EQ(got, kSize);
      EXPECT_EQ(stage.told.lines(),
                closing ? (Lines{"connect", "close"}) : (Lines{"connect", "flushed", "close"}));
    });
  }
}

MAIN_TYPED_TEST(LoopTcpConnection, AHandlerThatThrowsEndsItsConnectionOnly) {
  Stage stage({.framing = lines}, [](TcpConnection&, const std::string& line) {
    if (line == "message bad") throw std::runtime_error("bad indeed");
  });
  stage.run(stage.peer([](TcpStream& stream) {
    write_text(stream, "bad\nnext\n");
    read_text(stream);
  }));
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "message bad", "error handler", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, OrIsTheLoopsAffairAndTheNextMessageComes) {
  std::vector<std::string> errors;
  Stage stage({.framing = lines, .handler_errors = HandlerErrors::ToLoop},
              [](TcpConnection&, const std::string& line) {
                if (line == "message bad") throw std::runtime_error("bad indeed");
              });
  stage.loop.set_error_handler(
      [&](std::exception_ptr error) { errors.push_back(message_of(error)); });
  stage.run(stage.peer([](TcpStream& stream) { write_text(stream, "bad\nnext\n"); }));
  EXPECT_EQ(errors, (std::vector<std::string>{"bad indeed"}));
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "message bad", "message next", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, TellsARefusedConnectionWithItsErrno) {
  TcpListener closed = TcpListener::bind(kAnyPort);
  const Address address = closed.local_address();
  closed.close();
  delay(10ms);
  Loop loop;
  Told told;
  TcpHandlers handlers = told.handlers();
  TcpFailure failure;
  handlers.on_error = [&](TcpConnection&, const TcpFailure& what) { failure = what; };
  const auto client = TcpConnection::connect(loop, address, std::move(handlers));
  EXPECT_EQ(client->state(), TcpState::Connecting);
  EXPECT_EQ(client->send("never"), SendResult::Queued);
  loop.run();
  EXPECT_EQ(failure.kind, TcpFailureKind::Connect);
  EXPECT_EQ(failure.code, ECONNREFUSED);
  EXPECT_EQ(failure.detail, "connect to " + address.text() + ": Connection refused");
  EXPECT_EQ(told.lines(), (Lines{"close"}));
  EXPECT_EQ(loop.timer_count(), 0u);
}

MAIN_TYPED_TEST(LoopTcpConnection, SendsWhatWasQueuedWhileConnecting) {
  Stage stage({.framing = lines});
  Told told;
  const auto client =
      TcpConnection::connect(stage.loop, stage.server.local_address(), told.handlers(), [] {
        TcpClientOptions options;
        options.framing = lines;
        return options;
      }());
  EXPECT_EQ(client->send("early"), SendResult::Queued);
  client->shutdown_write();
  stage.loop.run();
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "message early", "close"}));
  EXPECT_EQ(told.lines(), (Lines{"connect", "flushed", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, ConnectsAgainFromOnClose) {
  int connections = 0;
  Loop loop;
  TcpHandlers at_server;
  at_server.on_connect = [&](TcpConnection& who) { who.close(); };
  TcpServer server(loop, kAnyPort, std::move(at_server));
  TcpHandlers at_client;
  at_client.on_connect = [&](TcpConnection&) { ++connections; };
  at_client.on_close = [&](TcpConnection& who) {
    if (connections < 3) {
      who.reconnect(1ms);
    } else {
      server.stop(0s);
    }
  };
  const auto client = TcpConnection::connect(loop, server.local_address(), std::move(at_client));
  loop.run();
  EXPECT_EQ(connections, 3);
  EXPECT_EQ(loop.timer_count(), 0u);
  EXPECT_EQ(error_of([&] { client->reconnect(1ms); }),
            "reconnect: on_close has returned, and the handlers are gone");
}

MAIN_TYPED_TEST(LoopTcpConnection, CanTakeBackAReconnection) {
  int closed = 0;
  Loop loop;
  TcpHandlers handlers;
  handlers.on_close = [&](TcpConnection& who) {
    ++closed;
    who.reconnect(1h);
    EXPECT_TRUE(who.cancel_reconnect());
    EXPECT_FALSE(who.cancel_reconnect());
  };
  static_cast<void>(TcpConnection::connect(loop, nowhere(), std::move(handlers)));
  loop.run();
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(loop.timer_count(), 0u);
}

/// Whatever `connection`, whose loop has ended, is asked for, it does not touch the loop.
void expect_over(TcpConnection& connection) {
  EXPECT_EQ(connection.state(), TcpState::Closed);
  EXPECT_FALSE(connection.cancel_reconnect());
  EXPECT_EQ(error_of([&] { connection.reconnect(1ms); }), "reconnect: the event loop has ended");
  EXPECT_EQ(connection.send("late"), SendResult::RefusedClosed);
  connection.pause_receiving();
  connection.resume_receiving();
  connection.set_busy(true);
  connection.shutdown_write();
  connection.close("last");
  connection.destroy();
  connection.abandon();
  EXPECT_FALSE(connection.cancel_reconnect());
}

MAIN_TYPED_TEST(LoopTcpConnection, AReconnectionThatWaitsEndsWithTheLoop) {
  TcpConnectionPtr client;
  const auto held = std::make_shared<int>(0);
  {
    Loop loop;
    TcpHandlers handlers;
    handlers.on_close = [held](TcpConnection& who) {
      who.reconnect(1h);
      who.loop().stop();
    };
    client = TcpConnection::connect(loop, nowhere(), std::move(handlers));
    EXPECT_TRUE(loop.run().stopped);
    EXPECT_EQ(loop.timer_count(), 1u);
    EXPECT_EQ(&client->loop(), &loop);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_THROW(static_cast<void>(client->loop()), UsageError);
  expect_over(*client);
}

MAIN_TYPED_TEST(LoopTcpConnection, AnOnCloseThatWasNotCalledYetEndsWithTheLoop) {
  TcpConnectionPtr client;
  const auto held = std::make_shared<int>(0);
  {
    Loop loop;
    TcpHandlers handlers;
    handlers.on_close = [held](TcpConnection&) { ADD_FAILURE() << "its loop has ended"; };
    client = TcpConnection::connect(loop, nowhere(), std::move(handlers));
    client->destroy();
  }
  EXPECT_EQ(held.use_count(), 1);
  expect_over(*client);
}

MAIN_TYPED_TEST(LoopTcpConnection, AReconnectionThatCannotBeginEndsTheConnection) {
  const auto held = std::make_shared<int>(0);
  int made = 0;
  Loop loop;
  TcpHandlers handlers;
  handlers.on_close = [held](TcpConnection& who) { who.reconnect(1ms); };
  TcpClientOptions options;
  options.framing = [&made]() -> FramingPtr {
    if (++made == 2) throw std::runtime_error("no second framing");
    return lines();
  };
  const auto client =
      TcpConnection::connect(loop, nowhere(), std::move(handlers), std::move(options));
  EXPECT_THROW(loop.run(), UncaughtError);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(client->state(), TcpState::Closed);
  EXPECT_FALSE(loop.run().stopped);
  EXPECT_TRUE(loop.identifiers().empty());
}

MAIN_TYPED_TEST(LoopTcpConnection, PingsASilentPeerAndGivesItUp) {
  std::string got;
  Stage stage({.framing = lines,
               .heartbeat = {.ping_after = 20ms, .dead_after = 50ms, .ping = [](auto& who) {
                               static_cast<void>(who.send("ping"));
                             }}});
  stage.run(stage.peer([&](TcpStream& stream) { got = read_text(stream); }));
  const std::uint64_t pings = stage.server.counters().traffic.pings;
  // A machine that is late enough sees only that the time is up.
  EXPECT_GE(pings, TypeParam::kReal ? 0u : 2u);
  EXPECT_LE(pings, 2u);
  EXPECT_EQ(got, std::string_view("ping\nping\n").substr(0, 5 * pings));
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "error silence", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, CountsAsSentWhatTheSystemOrItsQueueTook) {
  Loop loop;
  SendResult result = SendResult::RefusedFull;
  std::uint64_t sent = 0;
  TcpHandlers handlers;
  handlers.on_connect = [&](TcpConnection& who) {
    fermata::delay(5ms);  // The peer is gone meanwhile, and nobody has looked.
    result = who.send("x");
    sent = who.counters().messages_sent;
    loop.stop();
  };
  TcpServer server(loop, kAnyPort, std::move(handlers));
  auto peer =
      peer_of(server.local_address(), [](TcpStream& stream) { stream.set_reset_on_close(true); });
  loop.run();
  await(peer);
  EXPECT_EQ(sent, result == SendResult::Sent || result == SendResult::Queued ? 1u : 0u);
  EXPECT_TRUE(TypeParam::kReal || result == SendResult::Failed);
}

MAIN_TYPED_TEST(LoopTcpConnection, GivesUpAPeerThatReadsNothing) {
  Stage stage({.marks = {.high = 64 << 20, .low = 1}, .heartbeat = {.dead_after = 50ms}},
              [&](TcpConnection& who, const std::string& line) {
                if (line == "connect") static_cast<void>(who.send(std::string(32 << 20, 'x')));
              });
  stage.run(stage.peer([&](TcpStream& stream) {
    while (stage.told.count("close") == 0) {
      write_text(stream, "x");
      delay(5ms);
    }
  }));
  EXPECT_EQ(stage.told.count("error stalled"), 1u);
  EXPECT_EQ(stage.told.lines().back(), "close");
}

MAIN_TYPED_TEST(LoopTcpConnection, TakesNobodyForSilentWhileAHandlerIsSuspended) {
  std::string got;
  Stage stage({.framing = lines, .heartbeat = {.dead_after = 40ms}},
              [](TcpConnection& who, const std::string& line) {
                if (!line.starts_with("message")) return;
                delay(110ms);
                EXPECT_EQ(who.send("answer"), SendResult::Sent);
              });
  stage.run(stage.peer([&](TcpStream& stream) {
    write_text(stream, "question\n");
    std::array<std::byte, 16> buffer{};
    got.resize(stream.read(buffer));
    delay(10ms);
  }));
  EXPECT_EQ(got.size(), 7u);
  EXPECT_EQ(stage.told.lines(), (Lines{"connect", "message question", "close"}));
}

MAIN_TYPED_TEST(LoopTcpConnection, OfNoBytesNothingStaysUnsent) {
  TcpListener listener = TcpListener::bind(kAnyPort);
  const auto peer = spawn([&] {
    TcpStream stream = *listener.accept();
    try {
      for (int i = 0; i < 6; ++i) {
        write_text(stream, "x");
        delay(10ms);
      }
    } catch (const InputOutputError&) {  // Late enough to be taken for silent.
    }
  });
  Loop loop;
  Told told;
  TcpClientOptions options;
  options.heartbeat.dead_after = 30ms;
  const auto client =
      TcpConnection::connect(loop, listener.local_address(), told.handlers(), std::move(options));
  EXPECT_EQ(client->send(""), SendResult::Sent);
  EXPECT_EQ(client->queued(), 0u);
  loop.run();
  await(peer);
  EXPECT_EQ(told.count("error stalled"), 0u);
  EXPECT_EQ(told.lines().back(), "close");
}

MAIN_TYPED_TEST(LoopTcpConnection, EndsWithItsLoopWithoutAWord) {
  Told told;
  TcpListener listener = TcpListener::bind(kAnyPort);
  TcpConnectionPtr client;
  {
    Loop loop;
    client = TcpConnection::connect(loop, listener.local_address(), told.handlers());
    loop.delay(5ms, [&] { loop.stop(); });
    loop.run();
  }
  EXPECT_EQ(client->state(), TcpState::Closed);
  EXPECT_EQ(client->send("late"), SendResult::RefusedClosed);
  EXPECT_EQ(told.lines(), (Lines{"connect"}));
}

TYPED_TEST(LoopTcpConnection, EndsWithItsLoopUnderAHandlerThatGoesOn) {
  if constexpr (!TypeParam::kReal) return;  // There it is a mistake of the program.
  TypeParam::run([] {
    bool gone_on = false;
    TcpListener listener = TcpListener::bind(kAnyPort);
    const auto peer = spawn([&] {
      TcpStream stream = *listener.accept();
      write_text(stream, "hello");
      EXPECT_EQ(read_text(stream), "");
    });
    auto loop = std::make_unique<Loop>();
    TcpHandlers handlers;
    handlers.on_message = [&](TcpConnection& who, std::string_view) {
      who.loop().stop();
      try {
        delay(1h);
      } catch (const Cancellation&) {
        gone_on = true;
      }
    };
    const auto client =
        TcpConnection::connect(*loop, listener.local_address(), std::move(handlers));
    loop->run();
    loop.reset();
    await(peer);
    EXPECT_TRUE(gone_on);
    EXPECT_EQ(client->state(), TcpState::Closed);
  });
}

MAIN_TYPED_TEST(LoopTcpConnection, DropsItsHandlersWithItsLoop) {
  TcpListener listener = TcpListener::bind(kAnyPort);
  const auto held = std::make_shared<TcpConnectionPtr>();
  {
    Loop loop;
    TcpHandlers handlers;
    handlers.on_connect = [held](TcpConnection& who) { who.loop().stop(); };
    *held = TcpConnection::connect(loop, listener.local_address(), std::move(handlers));
    loop.run();
  }
  EXPECT_EQ(held.use_count(), 1);
}

MAIN_TYPED_TEST(LoopTcpConnection, RefusesOptionsThatMakeNoSense) {
  Loop loop;
  const auto refusal = [&](TcpClientOptions options) {
    return error_of(
        [&] { static_cast<void>(TcpConnection::connect(loop, kAnyPort, {}, std::move(options))); });
  };
  TcpClientOptions options;
  options.connect_timeout = 0s;
  EXPECT_EQ(refusal(options), "connect: connect_timeout 0 ns, expected a positive time");
  options = {};
  options.read_chunk = 0;
  EXPECT_NE(refusal(options), "no error");
  options = {};
  options.flush_deadline = -1s;
  EXPECT_NE(refusal(options), "no error");
  options = {};
  options.linger_deadline = -1s;
  EXPECT_EQ(refusal(options),
            "connection: linger_deadline -1000000000 ns, expected no negative time");
  for (const Duration idle : {Duration(500ms), Duration(1500ms), Duration(-1s), Duration(24h)}) {
    options = {};
    options.keep_alive = idle;
    EXPECT_EQ(refusal(options), fmt::format("connection: keep_alive: {} ns: expected whole "
                                            "seconds, 1 to 32767",
                                            idle.count()));
  }
}

}  // namespace
}  // namespace fermata::loop
