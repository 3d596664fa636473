// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/spawn.hpp"
#include "fermata/runtime/core/timer.hpp"
#include "fermata/runtime/io/tcp.hpp"
#include "fermata/runtime/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/support/checks.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;

template <class Arm>
class Tcp : public ::testing::Test {};
TYPED_TEST_SUITE(Tcp, Arms);

TcpListener listen() { return TcpListener::bind({"127.0.0.1", 0}); }

/// Two ends of one connection.
struct Pair {
  Pair() {
    TcpListener listener = listen();
    auto connecting = spawn(
        "connect", [address = listener.local_address()] { return TcpStream::connect(address); });
    server.emplace(std::move(*listener.accept()));
    client.emplace(await(std::move(connecting)));
  }
  std::optional<TcpStream> server;
  std::optional<TcpStream> client;
};

std::string read_text(TcpStream& stream, std::size_t max = 100) {
  std::string text(max, '\0');
  text.resize(stream.read(std::as_writable_bytes(std::span(text))));
  return text;
}

std::string read_exactly(TcpStream& stream, std::size_t size) {
  std::string text(size, '\0');
  stream.read_exact(std::as_writable_bytes(std::span(text)));
  return text;
}

/// What `operation` throws.
template <class Operation>
std::string error_of(Operation operation) {
  try {
    operation();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Bytes that tell where in a stream they belong.
std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
  return bytes;
}

TYPED_TEST(Tcp, CarriesBytesBothWays) {
  TypeParam::run([] {
    Pair pair;
    pair.client->write("ping");
    EXPECT_EQ(read_exactly(*pair.server, 4), "ping");
    pair.server->write("pong");
    EXPECT_EQ(read_exactly(*pair.client, 4), "pong");
    EXPECT_EQ(pair.client->peer_address(), pair.server->local_address());
  });
}

TYPED_TEST(Tcp, ARefusedConnectionSaysWhere) {
  TypeParam::run([] {
    TcpListener listener = listen();
    const Address address = listener.local_address();
    listener.close();
    delay(10ms);
    try {
      (void)TcpStream::connect(address);
      ADD_FAILURE() << "expected an error";
    } catch (const InputOutputError& error) {
      EXPECT_EQ(error.code(), ECONNREFUSED);
      EXPECT_EQ(error.what(), "connect to " + address.text() + ": Connection refused");
    }
  });
}

TYPED_TEST(Tcp, TheEndOfTheStreamIsStickyAndTheOtherDirectionGoesOn) {
  FERMATA_CHECKS("IO-04");
  TypeParam::run([] {
    Pair pair;
    pair.client->write("last words");
    pair.client->shutdown_write();
    EXPECT_EQ(read_exactly(*pair.server, 10), "last words");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(read_text(*pair.server), "");
    EXPECT_TRUE(pair.server->handle().at_end());
    pair.server->write("heard");
    EXPECT_EQ(read_exactly(*pair.client, 5), "heard");
    EXPECT_EQ(error_of([&] { pair.client->write("more"); }), "write: Broken pipe");
  });
}

TYPED_TEST(Tcp, AStreamThatEndsEarlyFailsAnExactRead) {
  TypeParam::run([] {
    Pair pair;
    pair.client->write("abc");
    pair.client->shutdown_write();
    EXPECT_EQ(error_of([&] { read_exactly(*pair.server, 8); }), "Stream ended after 3 of 8 bytes");
  });
}

TYPED_TEST(Tcp, CloseWakesEveryParkedOperationAndRefusesLaterOnes) {
  FERMATA_CHECKS("IO-06", "IO-01");
  TypeParam::run([] {
    Pair pair;
    std::vector<std::string> errors;
    std::vector<Coroutine<>> parked;
    for (int i = 0; i < 2; ++i) {
      parked.push_back(
          spawn("reader", [&] { errors.push_back(error_of([&] { read_text(*pair.server); })); }));
    }
    parked.push_back(spawn("writer", [&] {
      const auto bytes = pattern(16 << 20);
      errors.push_back(error_of([&] { pair.server->write(bytes); }));
    }));
    suspend();
    delay(20ms);
    EXPECT_TRUE(errors.empty());
    pair.server->close();
    for (const auto& each : parked) await(each);
    EXPECT_EQ(errors, std::vector<std::string>(3, "Stream was closed"));
    EXPECT_EQ(error_of([&] { read_text(*pair.server); }), "Cannot read from closed IO handle");
    EXPECT_EQ(error_of([&] { pair.server->write("x"); }), "Cannot write to closed IO handle");
    EXPECT_EQ(error_of([&] { pair.server->shutdown_write(); }), "Cannot write to closed IO handle");
    pair.server->close();
  });
}

TYPED_TEST(Tcp, ACloseIsTheEndOfTheStreamForThePeer) {
  TypeParam::run([] {
    Pair pair;
    pair.server->write("bye");
    pair.server.reset();
    EXPECT_EQ(read_exactly(*pair.client, 3), "bye");
    EXPECT_EQ(read_text(*pair.client), "");
  });
}

TYPED_TEST(Tcp, AReadThatTimesOutLosesNoByte) {
  FERMATA_CHECKS("IO-02", "IO-08");
  TypeParam::run([] {
    Pair pair;
    std::array<std::byte, 16> abandoned{};
    EXPECT_THROW(pair.server->read(abandoned, {.timeout = 2ms}), Timeout);
    pair.client->write("kept");
    delay(5ms);
    EXPECT_EQ(abandoned[0], std::byte{0});
    EXPECT_EQ(read_exactly(*pair.server, 4), "kept");
  });
}

TYPED_TEST(Tcp, BytesThatACancelledReaderNeverTookGoToTheNext) {
  FERMATA_CHECKS("IO-02", "CORE-WK-13");
  TypeParam::run([] {
    Pair pair;
    ReadRequest* parked = nullptr;
    auto reader = spawn("reader", [&] {
      std::array<std::byte, 4> buffer;
      ReadRequest request(pair.server->handle(), buffer);
      parked = &request;
      wait(request);
      request.take();
    });
    suspend();
    const Subscription after_its_wake =
        subscribe(*parked, [&](Event&, const Outcome&) { reader.cancel(); });
    pair.client->write("one two ");
    EXPECT_THROW(await(reader), Cancellation);
    EXPECT_EQ(read_exactly(*pair.server, 8), "one two ");
  });
}

TYPED_TEST(Tcp, ConcurrentReadersAreServedInOrder) {
  FERMATA_CHECKS("IO-09");
  TypeParam::run([] {
    Pair pair;
    std::vector<std::string> got(3);
    std::vector<Coroutine<>> readers;
    for (std::size_t i = 0; i < got.size(); ++i) {
      readers.push_back(spawn("reader", [&, i] { got[i] = read_exactly(*pair.server, 2); }));
    }
    suspend();
    pair.client->write("aabbcc");
    for (const auto& reader : readers) await(reader);
    EXPECT_EQ(got, (std::vector<std::string>{"aa", "bb", "cc"}));
  });
}

TYPED_TEST(Tcp, LargeWritesArriveWholeAndInOrder) {
  FERMATA_CHECKS("IO-02", "IO-03");
  TypeParam::run([] {
    Pair pair;
    constexpr std::size_t kSize = 6 << 20;
    const auto bytes = pattern(kSize);
    std::vector<Coroutine<>> writers;
    for (int i = 0; i < 2; ++i) {
      writers.push_back(spawn("writer", [&] { pair.client->write(bytes); }));
    }
    std::vector<std::byte> got(2 * kSize);
    pair.server->read_exact(got);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), got.begin()));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), got.begin() + kSize));
    for (const auto& writer : writers) await(writer);
  });
}

TYPED_TEST(Tcp, AWriteThatWasGivenUpStillArrivesWholeAheadOfTheNext) {
  FERMATA_CHECKS("IO-03", "IO-07");
  TypeParam::run([] {
    Pair pair;
    constexpr std::size_t kSize = 6 << 20;
    auto bytes = std::make_unique<std::vector<std::byte>>(pattern(kSize));
    const std::vector<std::byte> sent = *bytes;
    EXPECT_THROW(pair.client->write(*bytes, {.timeout = 2ms}), Timeout);
    bytes.reset();
    auto next = spawn("writer", [&] { pair.client->write("next"); });
    std::vector<std::byte> got(kSize);
    pair.server->read_exact(got);
    EXPECT_EQ(got, sent);
    EXPECT_EQ(read_exactly(*pair.server, 4), "next");
    await(next);
  });
}

TYPED_TEST(Tcp, AnIdleConnectionIsNoActivity) {
  FERMATA_CHECKS("IO-15", "CORE-EV-01");
  TypeParam::run([] {
    Pair pair;
    const std::size_t idle = current_runtime().active_event_count();
    EXPECT_EQ(idle, 0u);
    auto reader = spawn("reader", [&] { read_text(*pair.server); });
    suspend();
    EXPECT_EQ(current_runtime().active_event_count(), idle + 1);
    pair.client->write("x");
    await(reader);
    EXPECT_EQ(current_runtime().active_event_count(), idle);
  });
}

TYPED_TEST(Tcp, ATokenThatHasFiredTakesNothing) {
  FERMATA_CHECKS("EVT-06");
  TypeParam::run([] {
    Pair pair;
    pair.client->write("all");
    delay(5ms);
    Timer token(current_runtime(), 0ms);
    wait(token);
    std::array<std::byte, 8> buffer;
    EXPECT_THROW(pair.server->read(buffer, {.token = &token}), OperationCanceled);
    EXPECT_EQ(read_exactly(*pair.server, 3), "all");
  });
}

TYPED_TEST(Tcp, ATokenEndsAParkedRead) {
  TypeParam::run([] {
    Pair pair;
    Timer token(current_runtime(), 2ms);
    std::array<std::byte, 8> buffer;
    EXPECT_THROW(pair.server->read(buffer, {.token = &token}), OperationCanceled);
  });
}

TYPED_TEST(Tcp, AnEmptyBufferIsTheCallersMistake) {
  TypeParam::run([] {
    Pair pair;
    EXPECT_EQ(error_of([&] { pair.server->read({}); }),
              "read: expected a buffer of at least one byte");
    pair.server->write("");
  });
}

TYPED_TEST(Tcp, AValueThatWasMovedFromSaysSo) {
  TypeParam::run([] {
    Pair pair;
    TcpStream moved = std::move(*pair.client);
    EXPECT_EQ(error_of([&] { pair.client->write("x"); }),
              "The event cannot be used after it has been terminated");
  });
}

TYPED_TEST(Tcp, TheEndOfAConnectionInUseIsSafe) {
  FERMATA_CHECKS("CLOSE-04", "CLOSE-09", "CLOSE-02");
  TypeParam::run([] {
    auto pair = std::make_unique<Pair>();
    std::array<std::byte, 8> buffer;
    ReadRequest request(pair->server->handle(), buffer);
    int told = 0;
    const Subscription subscription = subscribe(request, [&](Event&, const Outcome&) {
      ++told;
      pair.reset();
    });
    pair->server->close();
    EXPECT_EQ(told, 1);
    delay(5ms);
    EXPECT_EQ(told, 1);
    EXPECT_TRUE(request.completed());
  });
}

}  // namespace
}  // namespace fermata::conformance
