// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/trigger.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::only;
using test::pattern;

constexpr std::size_t kWindow = 64 * 1024;
const Address kAddress("127.0.0.1", 7777);

/// Reads until the end of the stream, `chunk` bytes at a time at most.
std::string read_all(TcpStream& stream, std::size_t chunk = 4096) {
  std::string all;
  std::vector<std::byte> buffer(chunk);
  while (const std::size_t count = stream.read(buffer)) {
    all.append(reinterpret_cast<const char*>(buffer.data()), count);
  }
  return all;
}

class NetTest : public test::OneWorldFixture {};

TEST_F(NetTest, CarriesBytesBothWays) {
  run([] {
    auto listener = TcpListener::bind(kAddress);
    auto server = spawn("server", [&] {
      auto peer = listener.accept().value();
      const std::string got = read_all(peer);
      peer.write("you said " + got);
    });
    auto client = TcpStream::connect(kAddress);
    EXPECT_EQ(client.peer_address(), kAddress);
    client.write(std::string_view("hello"));
    client.shutdown_write();
    EXPECT_EQ(read_all(client), "you said hello");
    wait(*server);
  });
  EXPECT_GT(world_.now(), Instant{});
}

TEST_F(NetTest, DistanceTakesTime) {
  Duration near{};
  Duration far{};
  begin();
  auto& server = world_.service("server", [] {
    auto listener = TcpListener::bind(Address("0.0.0.0", 80));
    while (auto peer = listener.accept()) read_all(*peer);
  });
  const Address address = server.address(80);
  world_.node("client", [&] {
    auto listener = TcpListener::bind(kAddress);
    delay(1ms);
    Instant start = now();
    auto local = TcpStream::connect(kAddress);
    near = now() - start;
    start = now();
    auto remote = TcpStream::connect(address);
    far = now() - start;
  });
  finish();
  EXPECT_GT(near, 0ns);
  EXPECT_GT(far, near);
}

MAIN_TEST_F(NetTest, RefusesWhereNobodyListens) {
  try {
    static_cast<void>(TcpStream::connect(kAddress));
    ADD_FAILURE() << "connected";
  } catch (const InputOutputError& error) {
    EXPECT_EQ(error.code(), ECONNREFUSED) << error.what();
  }
  try {
    static_cast<void>(TcpStream::connect(Address("192.0.2.1", 80)));
    ADD_FAILURE() << "connected";
  } catch (const InputOutputError& error) {
    EXPECT_EQ(error.code(), EHOSTUNREACH) << error.what();
  }
}

MAIN_TEST_F(NetTest, OneListenerForEachPort) {
  auto first = TcpListener::bind(kAddress);
  EXPECT_THROW(static_cast<void>(TcpListener::bind(kAddress)), InputOutputError);
  EXPECT_THROW(static_cast<void>(TcpListener::bind(Address("192.0.2.1", 80))), InputOutputError);
  auto any = TcpListener::bind(Address("127.0.0.1", 0));
  EXPECT_NE(any.local_address().port(), 0);
  first.close();
  auto again = TcpListener::bind(kAddress);
}

TEST_F(NetTest, TheWindowHoldsAWriterBack) {
  bool written = false;
  run([&] {
    auto listener = TcpListener::bind(kAddress);
    auto client = TcpStream::connect(kAddress);
    auto peer = listener.accept().value();
    const std::string data = pattern(3 * kWindow);
    auto writer = spawn("writer", [&] {
      client.write(data);
      written = true;
      client.shutdown_write();
    });
    delay(1s);
    EXPECT_FALSE(written);
    EXPECT_EQ(read_all(peer, 1000), data);
    wait(*writer);
  });
  EXPECT_TRUE(written);
}

TEST_F(NetTest, BytesKeepTheirOrderWhateverTheDelays) {
  FERMATA_CHECKS("IO-02", "IO-03");
  std::uint64_t delays = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    run(only(Fault::Delay), seed, [] {
      auto listener = TcpListener::bind(kAddress);
      auto server = spawn("server", [&] {
        auto peer = listener.accept().value();
        EXPECT_EQ(read_all(peer, 100), pattern(2000));
      });
      auto client = TcpStream::connect(kAddress);
      const std::string data = pattern(2000);
      for (std::size_t i = 0; i < data.size(); i += 50) {
        client.write(std::string_view(data).substr(i, 50));
        suspend();
      }
      client.shutdown_write();
      wait(*server);
    });
    delays += count(Fault::Delay);
  }
  EXPECT_GT(delays, 100u);
}

TEST_F(NetTest, ReadsAndWritesMayBeShort) {
  std::uint64_t short_reads = 0;
  std::uint64_t short_writes = 0;
  FaultSet faults = only(Fault::ShortRead);
  faults.add(Fault::ShortWrite);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    run(faults, seed, [] {
      auto listener = TcpListener::bind(kAddress);
      auto client = TcpStream::connect(kAddress);
      auto peer = listener.accept().value();
      const std::string data = pattern(1000);
      client.write(data);
      client.shutdown_write();
      EXPECT_EQ(read_all(peer), data);
    });
    short_reads += count(Fault::ShortRead);
    short_writes += count(Fault::ShortWrite);
  }
  EXPECT_GT(short_reads, 20u);
  EXPECT_GT(short_writes, 20u);
}

TEST_F(NetTest, WriteSomeReportsWhatWasAccepted) {
  std::size_t shortest = 1000;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    run(only(Fault::ShortWrite), seed, [&] {
      auto listener = TcpListener::bind(kAddress);
      auto client = TcpStream::connect(kAddress);
      auto peer = listener.accept().value();
      const std::string data = pattern(1000);
      const std::size_t accepted = client.write_some(std::as_bytes(std::span(data)));
      client.shutdown_write();
      EXPECT_EQ(read_all(peer), data.substr(0, accepted));
      shortest = std::min(shortest, accepted);
    });
  }
  EXPECT_GE(shortest, 1u);
  EXPECT_LT(shortest, 1000u);
}

TEST_F(NetTest, AResetBreaksBothSides) {
  std::uint64_t resets = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    bool writer_saw = false;
    bool reader_saw = false;
    run(only(Fault::Reset), seed, [&] {
      auto listener = TcpListener::bind(kAddress);
      auto client = TcpStream::connect(kAddress);
      auto peer = listener.accept().value();
      auto reader = spawn("reader", [&] {
        try {
          read_all(peer);
        } catch (const InputOutputError& error) {
          EXPECT_EQ(error.code(), ECONNRESET);
          reader_saw = true;
        }
      });
      try {
        for (int i = 0; i < 5; ++i) client.write(std::string_view("data"));
      } catch (const InputOutputError& error) {
        EXPECT_EQ(error.code(), ECONNRESET);
        writer_saw = true;
      }
      client.close();
      wait(*reader);
    });
    EXPECT_EQ(writer_saw, count(Fault::Reset) > 0);
    EXPECT_EQ(reader_saw, writer_saw);
    resets += count(Fault::Reset);
  }
  EXPECT_GT(resets, 50u);
}

MAIN_TEST_F(NetTest, ClosingWithUnreadBytesResets) {
  auto listener = TcpListener::bind(kAddress);
  auto client = TcpStream::connect(kAddress);
  {
    auto peer = listener.accept().value();
    client.write(std::string_view("nobody reads this"));
    delay(1ms);
  }
  std::byte one;
  EXPECT_THROW(client.read({&one, 1}), InputOutputError);
}

MAIN_TEST_F(NetTest, WritingToAClosedPeerFails) {
  auto listener = TcpListener::bind(kAddress);
  auto client = TcpStream::connect(kAddress);
  listener.accept().value().close();
  delay(1ms);
  client.write(std::string_view("the first is accepted"));
  delay(1ms);
  EXPECT_THROW(client.write(std::string_view("the second is not")), InputOutputError);
}

MAIN_TEST_F(NetTest, TheWindowHoldsAWriterBackWhosePeerHasClosed) {
  auto listener = TcpListener::bind(kAddress);
  const auto connect_to_a_closed_peer = [&] {
    auto client = TcpStream::connect(kAddress);
    listener.accept().value().close();
    delay(1ms);
    return client;
  };
  const std::string data = pattern(3 * kWindow);
  const auto bytes = std::as_bytes(std::span(data));

  auto one = connect_to_a_closed_peer();
  EXPECT_EQ(one.write_some(bytes), kWindow);
  EXPECT_EQ(error_of([&] { (void)one.write_some(bytes); }), "write: Connection reset by peer");

  auto two = connect_to_a_closed_peer();
  EXPECT_EQ(error_of([&] { two.write(data); }), "write: Connection reset by peer");
}

TEST_F(NetTest, AWriterLearnsOfAResetBehindWhatNobodyReads) {
  FERMATA_CHECKS("IO-06");
  for (const bool ends_first : {false, true}) {
    run([&] {
      auto listener = TcpListener::bind(kAddress);
      auto client = TcpStream::connect(kAddress);
      auto server = listener.accept().value();
      const auto writer = spawn(
          "writer", [&] { EXPECT_THROW(client.write(pattern(2 * kWindow)), InputOutputError); });
      delay(1ms);
      ends_first ? server.shutdown_write() : server.write(std::string_view("nobody reads this"));
      delay(1ms);
      server.close();
      wait(*writer, {.timeout = 1s});
    });
  }
}

MAIN_TEST_F(NetTest, AWriterLearnsOfAResetBehindAnEndThatIsRead) {
  FERMATA_CHECKS("IO-06");
  auto listener = TcpListener::bind(kAddress);
  auto client = TcpStream::connect(kAddress);
  auto server = listener.accept().value();
  const auto reader = spawn("reader", [&] { EXPECT_EQ(read_all(client), ""); });
  suspend();
  server.close();
  EXPECT_EQ(error_of([&] { client.write(pattern(3 * kWindow), {.timeout = 1s}); }),
            "write: Connection reset by peer");
  wait(*reader);
}

TEST_F(NetTest, ConnectsMayBeRefusedOrHang) {
  std::uint64_t refused = 0;
  std::uint64_t hung = 0;
  FaultSet faults = only(Fault::Refused);
  faults.add(Fault::Hung);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    run(faults, seed, [&] {
      auto listener = TcpListener::bind(kAddress);
      const Instant start = now();
      try {
        auto client = TcpStream::connect(kAddress);
      } catch (const InputOutputError& error) {
        refused += error.code() == ECONNREFUSED ? 1 : 0;
        if (error.code() != ETIMEDOUT) return;
        ++hung;
        EXPECT_EQ(now() - start, 127s);
      }
    });
  }
  EXPECT_GT(refused, 10u);
  EXPECT_GT(hung, 10u);
}

MAIN_TEST_F(NetTest, AFullBacklogMakesClientsTryAgain) {
  auto listener = TcpListener::bind(kAddress, {.backlog = 1});
  std::vector<Coroutine<>> clients;
  int connected = 0;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(spawn("client", [&] {
      auto stream = TcpStream::connect(kAddress);
      ++connected;
      read_all(stream);
    }));
  }
  delay(500ms);
  EXPECT_LT(connected, 4);
  for (int i = 0; i < 4; ++i) listener.accept().value().close();
  for (const auto& client : clients) wait(*client);
  EXPECT_EQ(connected, 4);
  EXPECT_GE(now(), Instant{} + 1s);
}

TEST_F(NetTest, CloseIsAcknowledgedLaterAndLeavesNothing) {
  FERMATA_CHECKS("CLOSE-03");
  std::uint64_t slow = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    run(only(Fault::SlowClose), seed, [] {
      auto listener = TcpListener::bind(kAddress);
      for (int i = 0; i < 5; ++i) {
        auto client = TcpStream::connect(kAddress);
        auto peer = listener.accept();
      }
    });
    slow += count(Fault::SlowClose);
  }
  EXPECT_GT(slow, 10u);
}

TEST_F(NetTest, AWorldWithNothingButAListenerIsStalled) {
  begin();
  world_.node("main", [] {
    auto listener = TcpListener::bind(kAddress);
    static_cast<void>(listener.accept());
  });
  world_.run();
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Liveness);
  EXPECT_EQ(world_.failure()->message, "stalled: no pending events, 1 coroutine blocked");
  EXPECT_NE(world_.failure()->explanation.find("(accept)"), std::string::npos)
      << world_.failure()->explanation;
}

TEST_F(NetTest, WorkEndsInADrawnOrder) {
  std::vector<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::string order;
    run(FaultSet::none(), seed, [&] {
      std::vector<Coroutine<>> all;
      for (const char name : {'a', 'b', 'c', 'd', 'e', 'f'}) {
        all.push_back(spawn([&order, name] {
          EXPECT_EQ(offload([name] { return name; }), name);
          order += name;
        }));
      }
      for (const auto& each : all) wait(*each);
    });
    EXPECT_EQ(order.size(), 6u);
    orders.push_back(order);
  }
  EXPECT_GT(std::set<std::string>(orders.begin(), orders.end()).size(), 5u);
}

TEST_F(NetTest, WorkThatIsNotWantedAnyMoreLeavesNothing) {
  bool ran = false;
  run([&] {
    auto worker = spawn("worker", [&] { offload([&] { ran = true; }); });
    suspend();
    worker.cancel();
    EXPECT_THROW(wait(*worker), Cancellation);
  });
}

MAIN_TEST_F(NetTest, WorkThrowsInItsWaiter) {
  EXPECT_THROW(offload([] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_THROW(offload([] { static_cast<void>(current_runtime()); }), UsageError);
}

MAIN_TEST_F(NetTest, TriggersWakeTheirWaiter) {
  Trigger trigger;
  auto waiter = spawn("waiter", [&] { trigger.wait(); });
  suspend();
  trigger.fire();
  trigger.fire();
  wait(*waiter);
}

TEST_F(NetTest, SignalsReachThoseWhoWait) {
  begin();
  int seen = 0;
  world_.node("main", [&] {
    wait_signal(SIGHUP);
    ++seen;
    wait_signal(SIGHUP);
    ++seen;
  });
  world_.at(5ms, [&] { world_.node("main").signal(SIGHUP); });
  world_.at(9ms, [&] { world_.node("main").signal(SIGHUP); });
  finish();
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(world_.now(), Instant{} + 9ms);
}

}  // namespace
}  // namespace fermata::sim
