// SPDX-License-Identifier: Apache-2.0

// Waiting for input without reading it.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/process.hpp"
#include "fermata/io/readable.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/programs.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/conformance/transports.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Case>
class Readable : public ::testing::Test {
 public:
  using Pair = Connected<typename Case::Transport>;
};
TYPED_TEST_SUITE(Readable, Transports);

MAIN_TYPED_TEST(Readable, TheStreamThatInputCameForIsNamedAndKeepsIt) {
  FERMATA_CHECKS("IO-02");
  typename TestFixture::Pair first;
  typename TestFixture::Pair second;
  const auto writer = spawn("writer", [&] { second.client->write("two"); });
  EXPECT_EQ(await_any_readable({&*first.server, &*second.server}), 1u);
  EXPECT_EQ(await_any_readable({&*first.server, &*second.server}), 1u);
  EXPECT_EQ(read_exactly(*second.server, 3), "two");
  first.client->write("one");
  EXPECT_EQ(await_any_readable({&*first.server, &*second.server}), 0u);
  EXPECT_EQ(read_exactly(*first.server, 3), "one");
  await(writer);
}

MAIN_TYPED_TEST(Readable, TheFirstOfSeveralIsNamed) {
  typename TestFixture::Pair first;
  typename TestFixture::Pair second;
  second.client->write("2");
  second.server->await_readable();
  first.client->write("1");
  first.server->await_readable();
  const std::vector<ByteStream*> both = {&*first.server, &*second.server};
  EXPECT_EQ(await_any_readable(both), 0u);
  EXPECT_EQ(read_text(*first.server), "1");
  EXPECT_EQ(await_any_readable(both), 1u);
}

MAIN_TYPED_TEST(Readable, BytesStayWithTheirStreamInTheirOrder) {
  FERMATA_CHECKS("IO-02", "IO-03");
  typename TestFixture::Pair pair;
  std::string sent;
  for (int i = 0; i < 50'000; ++i) sent += std::to_string(i);
  const auto writer = spawn("writer", [&] {
    pair.client->write(sent);
    pair.client->shutdown_write();
  });
  std::string got;
  for (;;) {
    EXPECT_EQ(await_any_readable({&*pair.server}), 0u);
    const std::string part = read_text(*pair.server);
    if (part.empty()) break;
    got += part;
  }
  EXPECT_TRUE(got == sent);
  await(writer);
}

MAIN_TYPED_TEST(Readable, TheEndOfAStreamIsReadable) {
  FERMATA_CHECKS("IO-04");
  typename TestFixture::Pair quiet;
  typename TestFixture::Pair pair;
  const auto closer = spawn("closer", [&] { pair.client->shutdown_write(); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(await_any_readable({&*quiet.server, &*pair.server}), 1u);
    EXPECT_EQ(read_text(*pair.server), "");
  }
  pair.server->await_readable({.timeout = 0ms});
  await(closer);
}

MAIN_TYPED_TEST(Readable, AWaitThatEndsEarlyLosesNothing) {
  FERMATA_CHECKS("IO-02", "IO-08");
  typename TestFixture::Pair first;
  typename TestFixture::Pair second;
  const std::vector<ByteStream*> both = {&*first.server, &*second.server};
  EXPECT_THROW(static_cast<void>(await_any_readable(both, {.timeout = 2ms})), Timeout);
  EXPECT_THROW(first.server->await_readable({.timeout = 2ms}), Timeout);
  Timer token(current_runtime(), 2ms);
  EXPECT_THROW(static_cast<void>(await_any_readable(both, {.token = &token})), OperationCancelled);
  const auto cancelled = spawn("cancelled", [&] { static_cast<void>(await_any_readable(both)); });
  suspend();
  cancelled.cancel();
  EXPECT_THROW(await(cancelled), Cancellation);
  first.client->write("one");
  second.client->write("two");
  EXPECT_EQ(read_exactly(*first.server, 3), "one");
  EXPECT_EQ(read_exactly(*second.server, 3), "two");
}

MAIN_TYPED_TEST(Readable, WhoReadsGoesFirstAndWhoWaitsIsToldOfTheRest) {
  FERMATA_CHECKS("IO-09");
  typename TestFixture::Pair pair;
  std::vector<std::string> order;
  const auto watcher = spawn("watcher", [&] {
    EXPECT_EQ(await_any_readable({&*pair.server}), 0u);
    order.emplace_back("told");
    EXPECT_EQ(read_text(*pair.server, {.timeout = 0ms}), "rest");
  });
  suspend();
  const auto reader = spawn("reader", [&] { order.push_back(read_exactly(*pair.server, 6)); });
  suspend();
  pair.client->write("abc");
  delay(5ms);
  EXPECT_TRUE(order.empty());
  pair.client->write("defrest");
  await(reader);
  await(watcher);
  EXPECT_EQ(order, (std::vector<std::string>{"abcdef", "told"}));
}

MAIN_TYPED_TEST(Readable, AllWhoWaitAreToldAndWhoFindsNothingWaitsOn) {
  typename TestFixture::Pair pair;
  std::vector<std::string> got;
  std::vector<Coroutine<>> watchers;
  for (int i = 0; i < 3; ++i) {
    watchers.push_back(spawn("watcher", [&] {
      pair.server->await_readable();
      got.push_back(read_text(*pair.server, {.timeout = 0ms}));
    }));
  }
  suspend();
  for (const char* each : {"a", "b", "c"}) {
    pair.client->write(each);
    delay(5ms);
  }
  for (const auto& each : watchers) await(each);
  EXPECT_EQ(got, (std::vector<std::string>{"a", "b", "c"}));
}

MAIN_TYPED_TEST(Readable, AClosedStreamIsAnError) {
  FERMATA_CHECKS("IO-06");
  typename TestFixture::Pair quiet;
  typename TestFixture::Pair pair;
  const auto any = [&] { (void)await_any_readable({&*quiet.server, &*pair.server}); };
  std::vector<std::string> errors(3);
  std::vector<Coroutine<>> parked;
  parked.push_back(spawn("any", [&] { errors[0] = error_of(any); }));
  parked.push_back(
      spawn("one", [&] { errors[1] = error_of([&] { pair.server->await_readable(); }); }));
  parked.push_back(spawn(
      "select", [&] { errors[2] = error_of([&] { select(on_readable(*pair.server, [] {})); }); }));
  suspend();
  delay(2ms);
  pair.server->close();
  for (const auto& each : parked) await(each);
  EXPECT_EQ(errors, (std::vector<std::string>{"await_any_readable: stream 1 was closed",
                                              "Stream was closed", "Stream was closed"}));
  EXPECT_EQ(error_of(any), "await_any_readable: stream 1 is closed");
  EXPECT_EQ(error_of([&] { pair.server->await_readable(); }), "Cannot read from closed IO handle");
  EXPECT_EQ(error_of([&] { select(on_readable(*pair.server, [] {})); }),
            "Cannot read from closed IO handle");
  quiet.client->write("well");
  EXPECT_EQ(read_exactly(*quiet.server, 4), "well");
}

MAIN_TYPED_TEST(Readable, WhatCannotBeWaitedForIsTheCallersMistake) {
  typename TestFixture::Pair pair;
  EXPECT_EQ(error_of([] { (void)await_any_readable({}); }, 0),
            "await_any_readable: there are no streams: expected at least one");
  EXPECT_EQ(error_of(
                [&] {
                  (void)await_any_readable({&*pair.server, nullptr});
                },
                0),
            "await_any_readable: stream 1 is null: expected a stream");
  EXPECT_EQ(error_of([&] { (void)await_any_readable({&*pair.server}, {.timeout = -1ms}); }, 0),
            error_of([&] { (void)pair.server->await_readable({.timeout = -1ms}); }, 0));
}

MAIN_TYPED_TEST(Readable, ASelectIsToldAndTakesNothing) {
  FERMATA_CHECKS("IO-02");
  typename TestFixture::Pair first;
  typename TestFixture::Pair second;
  const auto once = [&](Duration patience) {
    return select(on_readable(*first.server, [] { return 1; }),
                  on_readable(*second.server, [] { return 2; }),
                  on_timeout(patience, [] { return 0; }));
  };
  EXPECT_EQ(once(2ms), 0);
  second.client->write("two");
  EXPECT_EQ(once(10s), 2);
  EXPECT_EQ(once(0ms), 2);
  EXPECT_EQ(read_exactly(*second.server, 3), "two");
  EXPECT_EQ(once(2ms), 0);
  first.client->shutdown_write();
  EXPECT_EQ(once(10s), 1);
}

MAIN_TYPED_TEST(Readable, ASelectWhoseBytesAnotherReadsWaitsOn) {
  typename TestFixture::Pair pair;
  std::vector<int> got;
  const auto selecting = [&](int number) {
    return [&, number] {
      select(on_readable(*pair.server, [&] {
        EXPECT_EQ(read_text(*pair.server, {.timeout = 0ms}), "x");
        got.push_back(number);
      }));
    };
  };
  const auto first = spawn("first", selecting(1));
  const auto second = spawn("second", selecting(2));
  suspend();
  pair.client->write("x");
  delay(5ms);
  EXPECT_EQ(got.size(), 1u);
  pair.client->write("x");
  await(first);
  await(second);
  EXPECT_EQ(got.size(), 2u);
}

template <class Arm>
class ReadablePipes : public ::testing::Test {};
TYPED_TEST_SUITE(ReadablePipes, Arms);

MAIN_TYPED_TEST(ReadablePipes, OnlyTheReadingEndIsReadable) {
  PipeEnds ends = open_pipe();
  PipeStream& reader = ends.reader;
  PipeStream& writer = ends.writer;
  EXPECT_EQ(error_of(
                [&] {
                  (void)await_any_readable({&reader, &writer});
                },
                0),
            "await_any_readable: stream 1: this is the writing end of a pipe");
  EXPECT_EQ(error_of([&] { writer.await_readable(); }, 0),
            "await_readable: this is the writing end of a pipe");
  EXPECT_EQ(error_of([&] { select(on_readable(writer, [] {})); }, 0),
            "on_readable: this is the writing end of a pipe");
  writer.write("in");
  EXPECT_EQ(await_any_readable({&reader}), 0u);
  EXPECT_EQ(read_text(reader), "in");
  writer.close();
  reader.await_readable();
  EXPECT_EQ(read_text(reader), "");
}

MAIN_TYPED_TEST(ReadablePipes, StreamsOfDifferentKindsAreWaitedForTogether) {
  Connected<OverTcp> tcp;
  Connected<OverPipe> local;
  auto [reader, writer] = open_pipe();
  const std::vector<ByteStream*> all = {&*tcp.server, &*local.server, &reader};
  writer.write("pipe");
  EXPECT_EQ(await_any_readable(all), 2u);
  EXPECT_EQ(read_exactly(reader, 4), "pipe");
  local.client->write("local");
  EXPECT_EQ(await_any_readable(all), 1u);
  EXPECT_EQ(read_exactly(*local.server, 5), "local");
  tcp.client->write("tcp");
  EXPECT_EQ(await_any_readable(all), 0u);
}

template <class Arm>
class ReadableOutput : public ::testing::Test {};
TYPED_TEST_SUITE(ReadableOutput, Programs);

MAIN_TYPED_TEST(ReadableOutput, OfAProcessIsWaitedFor) {
  ProcessOptions options{.program = "/bin/sh", .arguments = {"-c", commands::kExit3}};
  options.output = options.errors = Stdio::Pipe;
  Process process = Process::spawn(options);
  EXPECT_LT(await_any_readable({&process.output(), &process.errors()}), 2u);
  process.output().await_readable();
  EXPECT_EQ(read_to_end(process.output()), "");
  EXPECT_EQ(process.wait().exit_code(), 3);
}

}  // namespace
}  // namespace fermata::conformance
