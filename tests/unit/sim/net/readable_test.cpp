// SPDX-License-Identifier: Apache-2.0

// Waiting for input in a world: faults of the network, the terminal, crashes, and what a report
// says.

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/readable.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/tty.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::only;
using test::pattern;

const Address kHere("127.0.0.1", 7777);

struct Connections {
  explicit Connections(std::size_t count) {
    auto listener = TcpListener::bind(kHere);
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(TcpStream::connect(kHere));
      servers.push_back(std::move(*listener.accept()));
    }
    for (TcpStream& each : servers) watched.push_back(&each);
  }
  std::vector<TcpStream> clients;
  std::vector<TcpStream> servers;
  std::vector<ByteStream*> watched;
};

/// One coroutine serves three connections by readiness; answers what each has sent, and notes in
/// which order they were ready, and when.
std::vector<std::string> serve_three(std::vector<std::string>& journal) {
  const Instant start = now();
  Connections all(3);
  std::vector<Coroutine<>> writers;
  for (std::size_t i = 0; i < 3; ++i) {
    writers.push_back(spawn("writer " + std::to_string(i), [&all, i] {
      for (std::size_t part = 0; part < 3; ++part) {
        all.clients[i].write(pattern(40 * (i + 1)));
        suspend();
      }
      all.clients[i].shutdown_write();
    }));
  }
  std::vector<std::string> got(3);
  std::vector<std::size_t> open = {0, 1, 2};
  while (!open.empty()) {
    std::vector<ByteStream*> streams;
    for (const std::size_t each : open) streams.push_back(all.watched[each]);
    const std::size_t at = await_any_readable(streams);
    std::array<std::byte, 100> buffer;
    const std::size_t size = streams[at]->read(buffer, {.timeout = 0ms});  // It does not wait.
    got[open[at]].append(reinterpret_cast<const char*>(buffer.data()), size);
    journal.push_back(std::to_string(open[at]) + ": " + std::to_string(size) + " at " +
                      std::to_string((now() - start).count()));
    if (size == 0) open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
  }
  for (const auto& each : writers) await(each);
  return got;
}

class ReadableTest : public test::OneWorldFixture {};

TEST_F(ReadableTest, OneCoroutineServesSeveralWhateverTheNetworkDoes) {
  FERMATA_CHECKS("IO-02", "IO-03");
  FaultSet faults = only(Fault::Delay);
  faults.add(Fault::ShortRead);
  faults.add(Fault::ShortWrite);
  std::uint64_t struck = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<std::string> journal;
    std::vector<std::string> again;
    for (std::vector<std::string>* const notes : {&journal, &again}) {
      run(faults, seed, [&] {
        const std::vector<std::string> got = serve_three(*notes);
        for (std::size_t i = 0; i < 3; ++i) {
          const std::string part = pattern(40 * (i + 1));
          EXPECT_EQ(got[i], part + part + part);
        }
      });
    }
    EXPECT_EQ(journal, again);
    struck += count(Fault::Delay) + count(Fault::ShortRead) + count(Fault::ShortWrite);
  }
  EXPECT_GT(struck, 200u);
}

TEST_F(ReadableTest, ABrokenConnectionIsReadable) {
  std::uint64_t resets = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    run(only(Fault::Reset), seed, [&] {
      Connections all(2);
      const auto writer = spawn("writer", [&] {
        try {
          for (int i = 0; i < 5; ++i) all.clients[1].write(std::string_view("data"));
        } catch (const InputOutputError&) {
        }
        all.clients[1].close();
      });
      for (;;) {
        EXPECT_EQ(await_any_readable(all.watched), 1u);
        std::array<std::byte, 100> buffer;
        try {
          if (all.servers[1].read(buffer, {.timeout = 0ms}) == 0) break;
        } catch (const InputOutputError& error) {
          EXPECT_EQ(error.code(), ECONNRESET);
          ++resets;
          break;
        }
      }
      await(writer);
    });
  }
  EXPECT_GT(resets, 10u);
}

TEST_F(ReadableTest, ACrashOfThePeerIsReadableUnlessItIsSilent) {
  std::uint64_t told = 0;
  std::uint64_t silent = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    begin(FaultSet::none(), seed);
    auto& server = world_.node("server", [] {
      auto listener = TcpListener::bind(Address("0.0.0.0", 80));
      auto peer = listener.accept().value();
      delay(1h);
    });
    world_.node("client", [&] {
      auto stream = TcpStream::connect(server.address(80));
      try {
        EXPECT_EQ(await_any_readable({&stream}, {.timeout = 10s}), 0u);
        ++told;
        std::array<std::byte, 1> buffer;
        EXPECT_THROW(stream.read(buffer), InputOutputError);
      } catch (const Timeout&) {
        ++silent;
      }
    });
    world_.at(1s, [&] { server.crash(); });
    finish();
  }
  EXPECT_GT(told, 0u);
  EXPECT_GT(silent, 0u);
}

TEST_F(ReadableTest, ATerminalIsWaitedForBesideTheNetwork) {
  begin();
  world_.node("main", [&] {
    Connections all(1);
    auto input = TtyStream::input();
    const std::vector<ByteStream*> both = {&input, all.watched[0]};
    world_.node("main").terminal().type("no line yet");
    EXPECT_THROW(static_cast<void>(await_any_readable(both, {.timeout = 1s})), Timeout);
    world_.node("main").terminal().type("\nmore\n");
    EXPECT_EQ(await_any_readable(both), 0u);
    std::array<std::byte, 100> buffer;
    EXPECT_EQ(input.read(buffer), std::size_t{12}) << "one line";
    EXPECT_EQ(await_any_readable(both), 0u);
    EXPECT_EQ(input.read(buffer), std::size_t{5});
    all.clients[0].write(std::string_view("net"));
    EXPECT_EQ(await_any_readable(both), 1u);
  });
  finish();
}

TEST_F(ReadableTest, APeerWhoWaitsTooIsReported) {
  begin();
  world_.node("main", [] {
    Connections all(1);
    const auto other = spawn("other", [&] { all.clients[0].await_readable(); });
    static_cast<void>(await_any_readable(all.watched));
  });
  world_.run();
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->message, "stalled: no pending events, 2 coroutines blocked");
  const std::string& text = world_.failure()->explanation;
  EXPECT_NE(text.find("await_readable"), std::string::npos) << text;
  EXPECT_NE(text.find("connection"), std::string::npos) << text;
}

TEST_F(ReadableTest, AnInterruptedWaitLeavesTheStreamsAsTheyWere) {
  FERMATA_CHECKS("IO-02");
  begin();
  SweepCounts counts;
  world_.node("main", [&] {
    Connections all(2);
    std::array<std::size_t, 2> sent{};
    std::array<std::size_t, 2> got{};
    const auto write = [&](std::size_t at, std::string_view text) {
      all.clients[at].write(text);
      sent[at] += text.size();
    };
    const auto read_some = [&] {
      const std::size_t at = await_any_readable(all.watched, {.timeout = 30s});
      std::array<std::byte, 3> buffer;
      got[at] += all.servers[at].read(buffer, {.timeout = 0ms});
    };
    counts = world_.sweep_cancellation(
        [&] {
          const auto writer = spawn("writer", [&] {
            for (const std::size_t at : {1u, 0u, 1u}) {
              write(at, "data");
              delay(1ms);
            }
          });
          const auto reader = spawn("reader", [&] {
            for (int i = 0; i < 4; ++i) read_some();
          });
          when_all_settled({writer, reader});
        },
        {.then = [&] {
          for (const std::size_t at : {0u, 1u}) write(at, "end");
          while (got != sent) read_some();
        }});
  });
  finish();
  EXPECT_GT(counts.cancellations, 4u);
  EXPECT_GT(counts.timeouts, 1u);
}

}  // namespace
}  // namespace fermata::sim
