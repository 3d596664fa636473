// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/conformance/transports.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Case>
class Streams : public ::testing::Test {
 public:
  using Pair = Connected<typename Case::Transport>;
};
TYPED_TEST_SUITE(Streams, Transports);

/// Bytes that tell where in a stream they belong.
std::vector<std::byte> byte_pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
  return bytes;
}

MAIN_TYPED_TEST(Streams, CarriesBytesBothWays) {
  typename TestFixture::Pair pair;
  pair.client->write("ping");
  EXPECT_EQ(read_exactly(*pair.server, 4), "ping");
  pair.server->write("pong");
  EXPECT_EQ(read_exactly(*pair.client, 4), "pong");
}

MAIN_TYPED_TEST(Streams, TheEndOfTheStreamIsStickyAndTheOtherDirectionGoesOn) {
  FERMATA_CHECKS("IO-04");
  typename TestFixture::Pair pair;
  pair.client->write("last words");
  pair.client->shutdown_write();
  EXPECT_EQ(read_exactly(*pair.server, 10), "last words");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read_text(*pair.server), "");
  EXPECT_TRUE(pair.server->handle().at_end());
  pair.server->write("heard");
  EXPECT_EQ(read_exactly(*pair.client, 5), "heard");
  EXPECT_EQ(error_of([&] { pair.client->write("more"); }), "write: Broken pipe");
}

MAIN_TYPED_TEST(Streams, AStreamThatEndsEarlyFailsAnExactRead) {
  typename TestFixture::Pair pair;
  pair.client->write("abc");
  pair.client->shutdown_write();
  EXPECT_EQ(error_of([&] { read_exactly(*pair.server, 8); }), "Stream ended after 3 of 8 bytes");
}

MAIN_TYPED_TEST(Streams, AnExactReadThatGivesUpLosesNoByte) {
  FERMATA_CHECKS("IO-02");
  typename TestFixture::Pair pair;
  std::array<std::byte, 8> buffer;
  pair.client->write("ab");
  EXPECT_THROW(pair.server->read_exact(buffer, {.timeout = 10ms}), Timeout);
  pair.client->write("cd");
  Timer token(current_runtime(), 10ms);
  EXPECT_THROW(pair.server->read_exact(buffer, {.token = &token}), OperationCancelled);
  pair.client->write("ef");
  auto reader = spawn("reader", [&] { pair.server->read_exact(buffer); });
  delay(10ms);
  reader.cancel();
  EXPECT_THROW(await(reader), Cancellation);
  EXPECT_THROW(pair.server->read_exact(buffer, {.timeout = 0ms}), Timeout);
  pair.client->write("gh");
  pair.client->shutdown_write();
  EXPECT_EQ(read_exactly(*pair.server, 8), "abcdefgh");
}

MAIN_TYPED_TEST(Streams, AnExactReadThatMeetsTheEndLeavesWhatItHad) {
  FERMATA_CHECKS("IO-02", "IO-04");
  typename TestFixture::Pair pair;
  pair.client->write("abc");
  pair.client->shutdown_write();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(error_of([&] { read_exactly(*pair.server, 8); }), "Stream ended after 3 of 8 bytes");
  }
  EXPECT_FALSE(pair.server->handle().at_end());
  EXPECT_EQ(read_text(*pair.server), "abc");
  EXPECT_EQ(read_text(*pair.server), "");
  EXPECT_EQ(error_of([&] { read_exactly(*pair.server, 8); }), "Stream ended after 0 of 8 bytes");
}

MAIN_TYPED_TEST(Streams, NobodyReadsInTheMiddleOfAnExactRead) {
  FERMATA_CHECKS("IO-09");
  typename TestFixture::Pair pair;
  std::string whole;
  auto exact = spawn("exact", [&] { whole = read_exactly(*pair.server, 4); });
  auto next = spawn("next", [&] { return read_text(*pair.server); });
  suspend();
  pair.client->write("ab");
  delay(10ms);
  pair.client->write("cdef");
  pair.client->shutdown_write();
  await(exact);
  EXPECT_EQ(whole, "abcd");
  EXPECT_EQ(await(next), "ef");
}

MAIN_TYPED_TEST(Streams, WhatAnExactReadLeavesGoesToWhoeverReadsNext) {
  FERMATA_CHECKS("IO-02", "IO-09");
  typename TestFixture::Pair pair;
  auto exact = spawn("exact", [&] { read_exactly(*pair.server, 4); });
  auto next = spawn("next", [&] { return read_text(*pair.server); });
  suspend();
  pair.client->write("ab");
  delay(10ms);
  exact.cancel();
  pair.client->shutdown_write();
  EXPECT_EQ(await(next), "ab");
  EXPECT_THROW(await(exact), Cancellation);
}

MAIN_TYPED_TEST(Streams, CloseWakesEveryParkedOperationAndRefusesLaterOnes) {
  FERMATA_CHECKS("IO-06", "IO-01");
  typename TestFixture::Pair pair;
  std::vector<std::string> errors;
  std::vector<Coroutine<>> parked;
  for (int i = 0; i < 2; ++i) {
    parked.push_back(
        spawn("reader", [&] { errors.push_back(error_of([&] { read_text(*pair.server); })); }));
  }
  parked.push_back(spawn("writer", [&] {
    const auto bytes = byte_pattern(16 << 20);
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
}

MAIN_TYPED_TEST(Streams, ACloseIsTheEndOfTheStreamForThePeer) {
  typename TestFixture::Pair pair;
  pair.server->write("bye");
  pair.server.reset();
  EXPECT_EQ(read_exactly(*pair.client, 3), "bye");
  EXPECT_EQ(read_text(*pair.client), "");
}

MAIN_TYPED_TEST(Streams, AReadThatTimesOutLosesNoByte) {
  FERMATA_CHECKS("IO-02", "IO-08");
  typename TestFixture::Pair pair;
  std::array<std::byte, 16> abandoned{};
  EXPECT_THROW(pair.server->read(abandoned, {.timeout = 2ms}), Timeout);
  pair.client->write("kept");
  delay(5ms);
  EXPECT_EQ(abandoned[0], std::byte{0});
  EXPECT_EQ(read_exactly(*pair.server, 4), "kept");
}

MAIN_TYPED_TEST(Streams, BytesThatACancelledReaderNeverTookGoToTheNext) {
  FERMATA_CHECKS("IO-02", "CORE-WK-13");
  typename TestFixture::Pair pair;
  backend::ReadRequest* parked = nullptr;
  auto reader = spawn("reader", [&] {
    std::array<std::byte, 4> buffer;
    backend::ReadRequest request(pair.server->handle(), buffer);
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
}

MAIN_TYPED_TEST(Streams, ConcurrentReadersAreServedInOrder) {
  FERMATA_CHECKS("IO-09");
  typename TestFixture::Pair pair;
  std::vector<std::string> got(3);
  std::vector<Coroutine<>> readers;
  for (std::size_t i = 0; i < got.size(); ++i) {
    readers.push_back(spawn("reader", [&, i] { got[i] = read_exactly(*pair.server, 2); }));
  }
  suspend();
  pair.client->write("aabbcc");
  for (const auto& reader : readers) await(reader);
  EXPECT_EQ(got, (std::vector<std::string>{"aa", "bb", "cc"}));
}

MAIN_TYPED_TEST(Streams, LargeWritesArriveWholeAndInOrder) {
  FERMATA_CHECKS("IO-02", "IO-03");
  typename TestFixture::Pair pair;
  constexpr std::size_t kSize = 6 << 20;
  const auto bytes = byte_pattern(kSize);
  std::vector<Coroutine<>> writers;
  for (int i = 0; i < 2; ++i) {
    writers.push_back(spawn("writer", [&] { pair.client->write(bytes); }));
  }
  std::vector<std::byte> got(2 * kSize);
  pair.server->read_exact(got);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), got.begin()));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), got.begin() + kSize));
  for (const auto& writer : writers) await(writer);
}

MAIN_TYPED_TEST(Streams, BuffersThatAreWrittenTogetherStayTogether) {
  FERMATA_CHECKS("IO-03");
  typename TestFixture::Pair pair;
  const auto bytes = byte_pattern(300'000);
  std::vector<std::span<const std::byte>> pieces;
  for (std::size_t at = 0; at < bytes.size(); at += 1'000) {
    pieces.push_back(std::span(bytes).subspan(at, 1'000));
    pieces.push_back({});
  }
  std::vector<Coroutine<>> writers;
  for (int i = 0; i < 2; ++i) {
    writers.push_back(spawn("writer", [&] { pair.client->writev(pieces); }));
  }
  std::vector<std::byte> got(2 * bytes.size());
  pair.server->read_exact(got);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), got.begin()));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), got.begin() + 300'000));
  for (const auto& writer : writers) await(writer);
  pair.client->writev({});
}

MAIN_TYPED_TEST(Streams, TooMuchAtOnceIsRefusedWhole) {
  FERMATA_CHECKS("IO-12", "IO-16");
  typename TestFixture::Pair pair;
  const std::byte byte{1};
  const std::vector<std::span<const std::byte>> many(65'536, std::span(&byte, 1));
  EXPECT_EQ(error_of([&] { pair.client->writev(many); }),
            "write: 65536 buffers, expected at most 65535 at once");
  const std::vector<std::byte> megabyte(1 << 20);
  const std::vector<std::span<const std::byte>> large(2048, megabyte);
  EXPECT_EQ(error_of([&] { pair.client->writev(large); }),
            "write: buffers of 2147483648 bytes in all, expected at most 2147479552 at once");
  pair.client->write("next");
  EXPECT_EQ(read_exactly(*pair.server, 4), "next");
}

MAIN_TYPED_TEST(Streams, AWriteThatWasGivenUpStillArrivesWholeAheadOfTheNext) {
  FERMATA_CHECKS("IO-03", "IO-07");
  typename TestFixture::Pair pair;
  constexpr std::size_t kSize = 6 << 20;
  auto bytes = std::make_unique<std::vector<std::byte>>(byte_pattern(kSize));
  const std::vector<std::byte> sent = *bytes;
  EXPECT_THROW(pair.client->write(*bytes, {.timeout = 2ms}), Timeout);
  bytes.reset();
  auto next = spawn("writer", [&] { pair.client->write("next"); });
  std::vector<std::byte> got(kSize);
  pair.server->read_exact(got);
  EXPECT_EQ(got, sent);
  EXPECT_EQ(read_exactly(*pair.server, 4), "next");
  await(next);
}

MAIN_TYPED_TEST(Streams, AnIdleConnectionIsNoActivity) {
  FERMATA_CHECKS("IO-15", "CORE-EV-01");
  typename TestFixture::Pair pair;
  const std::size_t idle = current_runtime().active_event_count();
  EXPECT_EQ(idle, 0u);
  auto reader = spawn("reader", [&] { read_text(*pair.server); });
  suspend();
  EXPECT_EQ(current_runtime().active_event_count(), idle + 1);
  pair.client->write("x");
  await(reader);
  EXPECT_EQ(current_runtime().active_event_count(), idle);
}

MAIN_TYPED_TEST(Streams, ATokenThatHasFiredTakesNothing) {
  FERMATA_CHECKS("EVT-06");
  typename TestFixture::Pair pair;
  pair.client->write("all");
  delay(5ms);
  Timer token(current_runtime(), 0ms);
  wait(token);
  std::array<std::byte, 8> buffer;
  EXPECT_THROW(pair.server->read(buffer, {.token = &token}), OperationCancelled);
  EXPECT_EQ(read_exactly(*pair.server, 3), "all");
}

MAIN_TYPED_TEST(Streams, ATokenEndsAParkedRead) {
  typename TestFixture::Pair pair;
  Timer token(current_runtime(), 2ms);
  std::array<std::byte, 8> buffer;
  EXPECT_THROW(pair.server->read(buffer, {.token = &token}), OperationCancelled);
}

MAIN_TYPED_TEST(Streams, AnEmptyBufferIsTheCallersMistake) {
  typename TestFixture::Pair pair;
  EXPECT_EQ(error_of([&] { pair.server->read({}); }),
            "read: expected a buffer of at least one byte");
  pair.server->write("");
}

MAIN_TYPED_TEST(Streams, AValueThatWasMovedFromSaysSo) {
  typename TestFixture::Pair pair;
  const auto moved = std::move(*pair.client);
  EXPECT_EQ(error_of([&] { pair.client->write("x"); }),
            "handle: an empty value: expected one that was opened, and not moved from");
}

MAIN_TYPED_TEST(Streams, WhoIsToldOfBytesMayCloseTheStreamAtOnce) {
  typename TestFixture::Pair pair;
  std::array<std::byte, 16> buffer{};
  backend::ReadRequest request(pair.server->handle(), buffer);
  const auto closes = subscribe(request, [&](Event&, const Outcome&) { pair.server->close(); });
  pair.client->write("told");
  EXPECT_EQ(read_text(*pair.client), "");
  EXPECT_FALSE(pair.server->is_open());
  EXPECT_EQ(request.transferred(), 4u);
}

MAIN_TYPED_TEST(Streams, WhoIsToldOfInputMayReadItAndWaitForMoreAtOnce) {
  typename TestFixture::Pair pair;
  std::array<std::byte, 16> buffer{};
  std::optional<backend::ReadRequest> next;
  backend::ReadableRequest input(pair.server->handle());
  const auto reads = subscribe(input, [&](Event&, const Outcome&) {
    EXPECT_EQ(backend::ReadRequest(pair.server->handle(), buffer).take(), 5u);
    next.emplace(pair.server->handle(), buffer);
  });
  pair.client->write("first");
  delay(5ms);
  ASSERT_TRUE(input.is_completed());
  EXPECT_FALSE(next->is_completed());
  pair.client->write("second");
  delay(5ms);
  ASSERT_TRUE(next->is_completed());
  EXPECT_EQ(next->take(), 6u);
}

MAIN_TYPED_TEST(Streams, TheEndOfAConnectionInUseIsSafe) {
  FERMATA_CHECKS("CLOSE-04", "CLOSE-09", "CLOSE-02");
  auto pair = std::make_unique<typename TestFixture::Pair>();
  std::array<std::byte, 8> buffer;
  backend::ReadRequest request(pair->server->handle(), buffer);
  int told = 0;
  const Subscription subscription = subscribe(request, [&](Event&, const Outcome&) {
    ++told;
    pair.reset();
  });
  pair->server->close();
  EXPECT_EQ(told, 1);
  delay(5ms);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(request.is_completed());
}

}  // namespace
}  // namespace fermata::conformance
