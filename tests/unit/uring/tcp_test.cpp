// SPDX-License-Identifier: Apache-2.0

// What completions make of TCP; what all reactors do is in tests/conformance.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/os/socket_address.hpp"
#include "fermata/os/socket_listener.hpp"
#include "fermata/reactor/descriptor_calls.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/conformance/uring_arm.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/main_test.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using conformance::read_exactly;
using conformance::read_text;

class UringTcp : public ::testing::Test, protected conformance::UringArm {};

/// Two connected streams.
struct Pair {
  explicit Pair(TcpListener& listener)
      : client(TcpStream::connect(listener.local_address())), server(*listener.accept()) {}
  Pair() : Pair(*std::make_unique<TcpListener>(TcpListener::bind({"127.0.0.1", 0}))) {}

  TcpStream client;
  TcpStream server;
};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// A text in which no two pieces are equal.
std::string numbered_text(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text += std::to_string(i) + ' ';
  text.resize(size);
  return text;
}

/// Sends `text` and ends.
Coroutine<> sends(TcpStream& stream, const std::string& text) {
  return spawn("sender", [&] {
    stream.write(text);
    stream.shutdown_write();
  });
}

std::string read_all(TcpStream& stream) {
  std::string all;
  for (std::string piece = read_text(stream); !piece.empty(); piece = read_text(stream)) {
    all += piece;
  }
  return all;
}

/// The process has all descriptors that it may have, while this lives.
class ManyDescriptors {
 public:
  ManyDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit more = before_;
    more.rlim_cur = std::min<rlim_t>(more.rlim_max, 8192);
    setrlimit(RLIMIT_NOFILE, &more);
  }
  ~ManyDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

// --- reading ---

MAIN_TEST_F(UringTcp, AReaderThatDoesNotReadStopsTheWriter) {
  Pair pair;
  pair.client.write("first");
  EXPECT_EQ(read_text(pair.server), "first");  // From now on a receive is in flight.
  const std::string piece = numbered_text(64 << 10);
  std::size_t accepted = 0;
  const auto writer = spawn("writer", [&] {
    for (;;) accepted += pair.client.write_some(bytes_of(piece));
  });
  std::size_t before = 1;
  for (; accepted != before; delay(20ms)) before = accepted;
  EXPECT_LT(accepted, std::size_t{32} << 20);
  writer.cancel();
  EXPECT_THROW(await(writer), Cancellation);
  pair.client.shutdown_write();
  EXPECT_GE(read_all(pair.server).size(), accepted);
}

MAIN_TEST_F(UringTcp, ManyConnectionsShareTheBuffersAndLoseNothing) {
  const ManyDescriptors descriptors;
  TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int i = 0; i < 300; ++i) pairs.push_back(std::make_unique<Pair>(listener));
  const std::string text = numbered_text(40'000);
  std::vector<Coroutine<>> senders;
  std::vector<Coroutine<std::string>> readers;
  for (const auto& pair : pairs) {
    senders.push_back(sends(pair->client, text));
    readers.push_back(spawn("reader", [&server = pair->server] { return read_all(server); }));
  }
  for (auto& sender : senders) await(sender);
  for (auto& reader : readers) EXPECT_EQ(await(std::move(reader)), text);
}

MAIN_TEST_F(UringTcp, BytesThatCameWhileNobodyReadAreInOrder) {
  Pair pair;
  const std::string text = numbered_text(300'000);
  auto sender = sends(pair.client, text);
  std::string got = read_text(pair.server);
  while (got.size() < text.size()) {
    delay(1ms);  // More comes meanwhile than is held.
    got += read_text(pair.server);
  }
  EXPECT_EQ(got, text);
  EXPECT_EQ(read_text(pair.server), "");
  await(sender);
}

MAIN_TEST_F(UringTcp, AReadThatIsCancelledLosesNothing) {
  Pair pair;
  std::array<std::byte, 16> buffer;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(pair.server.read(buffer, {.timeout = 1ms}), Timeout);
    pair.client.write("x");
    EXPECT_EQ(read_text(pair.server), "x");
  }
}

// --- writing ---

/// Connections that make a turn so busy that writes are collected.
class Crowd {
 public:
  Crowd() {
    TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
    for (int i = 0; i < 30; ++i) pairs_.push_back(std::make_unique<Pair>(listener));
  }

  /// Until the next turn, what is written is collected.
  void stir() {
    std::vector<Coroutine<>> readers;
    for (const auto& pair : pairs_) {
      readers.push_back(spawn("reader", [&server = pair->server] { read_exactly(server, 1); }));
    }
    suspend();
    for (const auto& pair : pairs_) pair->client.write("x");
    for (const auto& reader : readers) await(reader);
  }

 private:
  std::vector<std::unique_ptr<Pair>> pairs_;
};

MAIN_TEST_F(UringTcp, SmallWritesOfABusyTurnArriveAsOne) {
  Crowd crowd;
  Pair pair;
  crowd.stir();
  for (int i = 0; i < 10; ++i) pair.client.write(std::to_string(i));
  EXPECT_EQ(read_text(pair.server), "0123456789");
}

MAIN_TEST_F(UringTcp, SmallAndLargeWritesStayInOrder) {
  Pair pair;
  Crowd crowd;
  std::string expected;
  auto reader = spawn("reader", [&] { return read_all(pair.server); });
  for (const std::size_t size : {3u, 4095u, 1u, 4096u, 4097u, 70'000u, 2u, 900'000u, 5u}) {
    const std::string text = numbered_text(size);
    expected += "begin" + text;
    crowd.stir();
    pair.client.write("begin");
    pair.client.write(text);
  }
  pair.client.shutdown_write();
  EXPECT_EQ(await(std::move(reader)), expected);
}

MAIN_TEST_F(UringTcp, WhatWasWrittenLeavesBeforeTheEnd) {
  Crowd crowd;
  Pair shut;
  crowd.stir();
  shut.client.write("bye");
  shut.client.shutdown_write();
  EXPECT_EQ(read_text(shut.server), "bye");
  EXPECT_EQ(read_text(shut.server), "");

  Pair closed;
  crowd.stir();
  closed.client.write("bye");
  closed.client.close();
  EXPECT_EQ(read_text(closed.server), "bye");
  EXPECT_EQ(read_text(closed.server), "");
}

MAIN_TEST_F(UringTcp, WhatIsCollectedLeavesAlsoWhenTheKernelHasNoRoomYet) {
  for (const bool closes : {false, true}) {
    SCOPED_TRACE(closes);
    Crowd crowd;
    Pair pair;
    const std::string piece = numbered_text(1000);
    std::size_t accepted = 0;
    bool more = true;
    while (more) {
      crowd.stir();
      const std::size_t size = pair.client.handle().write_at_once(bytes_of(piece));
      accepted += size;
      more = size > 0;
    }
    if (closes) pair.client.close();
    auto reader = spawn("reader", [&] { return read_all(pair.server).size(); });
    delay(5ms);
    if (!closes) pair.client.shutdown_write();
    EXPECT_EQ(await(std::move(reader)), accepted);
  }
}

MAIN_TEST_F(UringTcp, WhatIsCollectedAndCannotLeaveIsToldByTheNextWrite) {
  Crowd crowd;
  Pair pair;
  pair.server.reset();
  delay(5ms);
  crowd.stir();
  pair.client.write("nobody");
  delay(1ms);
  EXPECT_EQ(test::error_of([&] { pair.client.write("again"); }), "write: Connection reset by peer");
}

MAIN_TEST_F(UringTcp, AnyNumberMayWriteInOneTurn) {
  const ManyDescriptors descriptors;
  TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int i = 0; i < 700; ++i) pairs.push_back(std::make_unique<Pair>(listener));
  for (const auto& pair : pairs) {
    pair->client.write("ping");
    pair->server.write("pong");
  }
  for (const auto& pair : pairs) {
    EXPECT_EQ(read_text(pair->client), "pong");
    EXPECT_EQ(read_text(pair->server), "ping");
  }
}

MAIN_TEST_F(UringTcp, WritesOfManyLeaveInPortionsBeforeTheTurn) {
  constexpr int kConnections = 100;
  Crowd crowd;
  TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
  const os::NativeAddress address(listener.local_address());
  std::vector<int> peers;
  std::vector<TcpStream> streams;
  for (int i = 0; i < kConnections; ++i) {
    peers.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(peers.back(), address.get(), address.size), 0);
    streams.push_back(std::move(*listener.accept()));
  }
  crowd.stir();
  for (TcpStream& stream : streams) stream.write("x");
  const auto arrived = [&] {
    return std::count_if(peers.begin(), peers.end(), [](int peer) {
      char byte = 0;
      return ::recv(peer, &byte, 1, MSG_DONTWAIT) == 1;
    });
  };
  EXPECT_EQ(arrived(), 64);
  delay(1ms);
  EXPECT_EQ(arrived(), kConnections - 64);
  for (const int peer : peers) ::close(peer);
}

// --- closing ---

MAIN_TEST_F(UringTcp, ACloseEndsTheReceiveThatIsInFlight) {
  Pair pair;
  std::array<std::byte, 16> buffer;
  EXPECT_THROW(pair.server.read(buffer, {.timeout = 1ms}), Timeout);
  pair.server.close();
  EXPECT_EQ(read_text(pair.client), "");
}

MAIN_TEST_F(UringTcp, AHalfThatIsShutLeavesTheOther) {
  Pair pair;
  pair.client.shutdown_write();
  EXPECT_EQ(read_text(pair.server), "");
  pair.server.write("still here");
  EXPECT_EQ(read_text(pair.client), "still here");
}

MAIN_TEST_F(UringTcp, AConnectThatIsCancelledLeavesNothing) {
  // Nobody accepts: the queue is full soon, and the next one waits for an answer.
  const int deaf = os::listen_at(Address("127.0.0.1", 0), {.backlog = 1});
  const Address place = os::local_address_of(deaf);
  std::vector<TcpStream> queued;
  const auto connect_some = [&] {
    for (int i = 0; i < 8; ++i) queued.push_back(TcpStream::connect(place, {.timeout = 20ms}));
  };
  EXPECT_THROW(connect_some(), Timeout);
  ::close(deaf);
}

// --- listening ---

MAIN_TEST_F(UringTcp, AListenerThatIsClosedIsGoneAtOnce) {
  TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
  const Address place = listener.local_address();
  listener.close();
  EXPECT_THROW((void)TcpStream::connect(place), InputOutputError);
  TcpListener next = TcpListener::bind(place);
  const TcpStream client = TcpStream::connect(place);
  EXPECT_TRUE(next.accept());
}

/// The process may have few descriptors while this lives.
class FewDescriptors {
 public:
  FewDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 256;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

MAIN_TEST_F(UringTcp, AcceptsAgainWhenThereAreDescriptorsAgain) {
  const FewDescriptors few;  // An accept keeps to the limit that held when it began.
  TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
  delay(1ms);
  const os::NativeAddress place(listener.local_address());
  const int client = ::socket(place.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  backend::DescriptorCalls& calls = backend::system_descriptor_calls();
  calls.exhaust(true);
  EXPECT_EQ(::connect(client, place.get(), place.size), 0);
  EXPECT_THROW((void)listener.accept({.timeout = 20ms}), Timeout);
  calls.exhaust(false);
  EXPECT_TRUE(listener.accept());
  ::close(client);
}

}  // namespace
}  // namespace fermata
