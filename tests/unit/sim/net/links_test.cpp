// SPDX-License-Identifier: Apache-2.0

// Links that are slow, narrow, cut or held, and worlds that heal.

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/udp.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::error_of;

constexpr std::string_view kMessage = "message";

/// Two machines: `server` receives, `client` sends.
class LinkTest : public test::WorldFixture {
 protected:
  /// The server takes one connection, notes when bytes arrive.
  void serve_stream() { world_->node("server", stream_server()); }
  [[nodiscard]] std::function<void()> stream_server() {
    return [this] {
      TcpListener listener = TcpListener::bind({"0.0.0.0", 7});
      auto peer = listener.accept();
      std::array<std::byte, 4096> buffer;
      try {
        while (const std::size_t size = peer->read(buffer)) {
          received_ += size;
          arrivals_.push_back(now() - Instant{});
        }
      } catch (const InputOutputError&) {  // The client is gone.
      }
    };
  }

  /// Serves datagrams, until one is empty.
  void serve_datagrams() {
    world_->node("server", [this] {
      UdpSocket socket = UdpSocket::bind({"0.0.0.0", 7});
      std::array<std::byte, 64> buffer;
      while (socket.receive(buffer).size > 0) arrivals_.push_back(now() - Instant{});
    });
  }

  void client(std::function<void()> program) { world_->node("client", std::move(program)); }

  [[nodiscard]] TcpStream connect() {
    return TcpStream::connect(world_->node("server").address(7));
  }

  std::vector<Duration> arrivals_;
  std::size_t received_ = 0;
};

TEST_F(LinkTest, ALatencyIsWhatItSays) {
  serve_stream();
  client([this] {
    TcpStream stream = connect();
    const Instant sent = now();
    stream.write(kMessage);
    delay(1s);
    ASSERT_EQ(arrivals_.size(), 1u);
    EXPECT_EQ(Instant{} + arrivals_[0] - sent, 30ms);
  });
  world_->link("client", "server").latency(Latency::fixed(30ms));
  run();
}

TEST_F(LinkTest, ADrawnLatencyStaysWithinItsBoundsAndKeepsTheOrderOfOneConnection) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Latency& latency :
         {Latency::uniform(1ms, 9ms), Latency::heavy_tail(1ms, 9ms), Latency::fixed(1ms)}) {
      begin(seed);
      arrivals_.clear();
      serve_datagrams();
      std::vector<Duration> sent;
      client([&] {
        delay(1ms);
        UdpSocket socket = UdpSocket::bind({"0.0.0.0", 0});
        const Address server = world_->node("server").address(7);
        for (int i = 0; i < 20; ++i) {
          sent.push_back(now() - Instant{});
          socket.send_to(kMessage, server);
          delay(10ms);
        }
        socket.send_to("", server);
      });
      world_->link("client", "server").latency(latency);
      run();
      ASSERT_EQ(arrivals_.size(), 20u);
      for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_GE(arrivals_[i] - sent[i], 1ms);
        EXPECT_LE(arrivals_[i] - sent[i], 9ms);
      }
    }
  }
}

TEST_F(LinkTest, ANarrowLinkTakesItsTime) {
  serve_stream();
  client([this] {
    TcpStream stream = connect();
    const Instant sent = now();
    const std::vector<std::byte> bytes(10'000);
    stream.write(bytes);
    stream.shutdown_write();
    delay(20s);
    EXPECT_EQ(received_, bytes.size());
    EXPECT_GE(Instant{} + arrivals_.back() - sent, 10s);
    EXPECT_LE(Instant{} + arrivals_.back() - sent, 11s);
  });
  world_->link("client", "server").bandwidth(1'000);
  run();
}

TEST_F(LinkTest, ACutLinkLosesDatagramsAndAConnectionSendsAgain) {
  serve_stream();
  client([this] {
    TcpStream stream = connect();
    world_->link("client", "server").cut();
    stream.write(kMessage);
    delay(10s);
    EXPECT_EQ(received_, 0u);
    world_->link("client", "server").mend();
    delay(1s);
    EXPECT_EQ(received_, kMessage.size());
    stream.write(kMessage);
    delay(1s);
    EXPECT_EQ(received_, 2 * kMessage.size());
  });
  run();

  begin(1);
  serve_datagrams();
  client([this] {
    delay(1ms);
    UdpSocket socket = UdpSocket::bind({"0.0.0.0", 0});
    const Address server = world_->node("server").address(7);
    Link link = world_->link("client", "server");
    link.cut();
    socket.send_to(kMessage, server);
    delay(1s);
    link.mend();
    socket.send_to(kMessage, server);
    socket.send_to("", server);
  });
  run();
  EXPECT_EQ(arrivals_.size(), 3u);  // Two pieces of the stream, and one datagram of two.
}

TEST_F(LinkTest, AHeldLinkKeepsEverythingInOrder) {
  serve_datagrams();
  client([this] {
    delay(1ms);
    UdpSocket socket = UdpSocket::bind({"0.0.0.0", 0});
    const Address server = world_->node("server").address(7);
    Link link = world_->way("client", "server");
    link.hold();
    for (int i = 0; i < 3; ++i) socket.send_to(kMessage, server);
    delay(1s);
    EXPECT_TRUE(arrivals_.empty());
    link.release();
    delay(1ms);
    EXPECT_EQ(arrivals_.size(), 3u);
    link.clog(5ms);
    socket.send_to("", server);
  });
  run();
}

TEST_F(LinkTest, AConnectionOverACutLinkTimesOutAndOnlyItsSenderLearnsOfIt) {
  world_->service("server", stream_server());
  client([this] {
    TcpStream stream = connect();
    world_->link("client", "server").cut();
    stream.write(kMessage);
    const Instant sent = now();
    std::array<std::byte, 8> buffer;
    try {
      stream.read(buffer);
      ADD_FAILURE() << "nothing can come";
    } catch (const InputOutputError& error) {
      EXPECT_EQ(error.code(), ETIMEDOUT) << error.what();
    }
    EXPECT_EQ(now() - sent, 924'600ms);
    world_->heal();
    delay(1s);
  });
  run();
  EXPECT_EQ(received_, 0u);  // Whoever has given up sends nothing again.
}

TEST_F(LinkTest, ConnectsWaitForALinkThatIsMendedInTime) {
  serve_stream();
  client([this] {
    world_->link("client", "server").cut();
    world_->at(10s, [this] { world_->link("client", "server").mend(); });
    TcpStream stream = connect();
    EXPECT_GE(now(), Instant{} + 10s);
    EXPECT_LE(now(), Instant{} + 16s);
    stream.write(kMessage);
  });
  run();
  EXPECT_EQ(received_, kMessage.size());
}

TEST_F(LinkTest, ConnectsOverALinkThatStaysCutTimeOut) {
  world_->service("server", [] {
    TcpListener listener = TcpListener::bind({"0.0.0.0", 7});
    while (listener.accept()) {
    }
  });
  for (const bool answers_lost : {false, true}) {
    world_->node(answers_lost ? "deaf" : "mute", [this, answers_lost] {
      const std::string_view here = answers_lost ? "deaf" : "mute";
      delay(1ms);
      const Instant begun = now();
      (answers_lost ? world_->way("server", here) : world_->way(here, "server")).cut();
      try {
        static_cast<void>(connect());
        ADD_FAILURE() << "nobody can answer";
      } catch (const InputOutputError& error) {
        EXPECT_EQ(error.code(), ETIMEDOUT) << error.what();
      }
      EXPECT_GE(now() - begun, 60s);
      EXPECT_LE(now() - begun, 255s);
    });
  }
  run();
}

TEST_F(LinkTest, APartitionSeparatesAGroupFromAllOthersUntilTheWorldHeals) {
  std::multiset<std::string> heard;
  const auto listen = [&](const std::string& name) {
    world_->service(name, [&heard, name] {
      UdpSocket socket = UdpSocket::bind({"0.0.0.0", 7});
      std::array<std::byte, 64> buffer;
      while (true) {
        socket.receive(buffer);
        heard.insert(name);
      }
    });
  };
  for (const char* name : {"a", "b", "c"}) listen(name);
  client([&] {
    delay(1ms);
    UdpSocket socket = UdpSocket::bind({"0.0.0.0", 0});
    const auto tell_all = [&] {
      for (const char* name : {"a", "b", "c"}) {
        socket.send_to(kMessage, world_->node(name).address(7));
      }
      delay(1ms);
    };
    world_->partition({"client", "a"});
    tell_all();
    EXPECT_EQ(heard, (std::multiset<std::string>{"a"}));
    world_->heal();
    tell_all();
    EXPECT_EQ(heard, (std::multiset<std::string>{"a", "a", "b", "c"}));
  });
  run();
}

TEST_F(LinkTest, NoDrawnPartitionSeparatesAMachineFromItself) {
  FaultSet faults = FaultSet::none();
  faults.add(Fault::Partition);
  std::uint64_t struck = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    begin(seed, faults);
    serve_datagrams();
    client([this] {
      delay(1ms);
      UdpSocket socket = UdpSocket::bind({"0.0.0.0", 7});
      std::array<std::byte, 64> buffer;
      for (int i = 0; i < 20; ++i) {
        socket.send_to(kMessage, world_->node("server").address(7));
        socket.send_to(kMessage, world_->node("client").address(7));
        EXPECT_EQ(socket.receive(buffer, {.timeout = 1s}).size, kMessage.size());
      }
      world_->heal();
      socket.send_to("", world_->node("server").address(7));
    });
    run();
    struck += world_->fault_counts()[static_cast<std::size_t>(Fault::Partition)];
  }
  EXPECT_GT(struck, 0u);
}

TEST_F(LinkTest, DrawnPartitionsAndClogsEndByThemselves) {
  FaultSet faults = FaultSet::none();
  faults.add(Fault::Clog);
  faults.add(Fault::Partition);
  FaultCounts struck{};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    begin(seed, faults);
    received_ = 0;
    serve_stream();
    client([this] {
      TcpStream stream = connect();
      for (int i = 0; i < 5; ++i) stream.write(kMessage);
    });
    run();
    EXPECT_EQ(received_, 5 * kMessage.size());
    for (std::size_t i = 0; i < struck.size(); ++i) struck[i] += world_->fault_counts()[i];
  }
  EXPECT_GT(struck[static_cast<std::size_t>(Fault::Clog)], 0u);
  EXPECT_GT(struck[static_cast<std::size_t>(Fault::Partition)], 0u);
}

TEST_F(LinkTest, BadInputIsNamed) {
  client([] {});
  EXPECT_EQ(error_of([&] { world_->link("client", "moon").cut(); }), "node 'moon': there is none");
  EXPECT_EQ(error_of([&] { world_->way("client", "client").cut(); }),
            "link: expected two machines");
  EXPECT_EQ(error_of([&] { world_->partition({"moon"}); }), "node 'moon': there is none");
  EXPECT_EQ(error_of([] { static_cast<void>(Latency::fixed(-1ns)); }),
            "latency -1 ns: expected zero or more");
  EXPECT_EQ(error_of([] { static_cast<void>(Latency::uniform(2ns, 1ns)); }),
            "latency from 2 ns to 1 ns: expected at least as much");
  run();
}

}  // namespace
}  // namespace fermata::sim
