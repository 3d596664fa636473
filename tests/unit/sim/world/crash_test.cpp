// SPDX-License-Identifier: Apache-2.0

// Machines that go down and come up again.

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/udp.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::error_of;

using CrashTest = test::WorldFixture;

/// Accepts one connection after another and answers every byte, forever.
void echo() {
  TcpListener listener = TcpListener::bind({"0.0.0.0", 7});
  while (auto peer = listener.accept()) {
    spawn("session", [peer = std::move(*peer)]() mutable {
      std::array<std::byte, 64> buffer;
      while (const std::size_t size = peer.read(buffer)) peer.write(std::span(buffer).first(size));
    });
  }
}

/// What a read of `stream` ends with, within a second.
std::string end_of(TcpStream& stream) {
  std::array<std::byte, 8> buffer;
  try {
    return stream.read(buffer, {.timeout = 1s}) == 0 ? "end" : "bytes";
  } catch (const Timeout&) {
    return "silence";
  } catch (const InputOutputError& error) {
    EXPECT_EQ(error.code(), ECONNRESET);
    return "reset";
  }
}

TEST_F(CrashTest, PeersSeeAResetOrSilence) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed);
    Node& server = world_->service("server", echo);
    world_->node("client", [&] {
      TcpStream stream = TcpStream::connect(server.address(7));
      world_->at(5ms, [&] { server.crash(); });
      seen.insert(end_of(stream));
      EXPECT_FALSE(server.is_up());
    });
    run();
  }
  EXPECT_EQ(seen, (std::set<std::string>{"reset", "silence"}));
}

TEST_F(CrashTest, ACalmCrashIsAReset) {
  begin(1, FaultSet::none(), "calm");
  Node& server = world_->service("server", echo);
  world_->node("client", [&] {
    TcpStream stream = TcpStream::connect(server.address(7));
    world_->at(5ms, [&] { server.crash(); });
    EXPECT_EQ(end_of(stream), "reset");
  });
  run();
}

TEST_F(CrashTest, AMachineThatWasIdleForLongGoesDownWhenItCrashesAndNotBefore) {
  begin(1, FaultSet::none(), "calm");
  Node& server = world_->service("server", echo);
  world_->node("client", [&] {
    TcpStream stream = TcpStream::connect(server.address(7));
    world_->at(500ms, [&] { server.crash(); });
    EXPECT_EQ(end_of(stream), "reset");
    EXPECT_GE(now(), Instant() + 500ms);
    server.restart();
    delay(1ms);
    EXPECT_TRUE(server.is_up());
  });
  run();
}

TEST_F(CrashTest, NobodyAnswersUntilTheMachineIsUpAgain) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed);
    Node& server = world_->service("server", echo);
    const Address address = server.address(7);
    world_->node("client", [&] {
      delay(1ms);
      server.crash();
      delay(1ms);
      try {
        (void)TcpStream::connect(address);
        ADD_FAILURE() << "expected an error";
      } catch (const InputOutputError& error) {
        EXPECT_EQ(error.code(), EHOSTUNREACH);
      }
      server.restart();
      delay(1ms);
      EXPECT_TRUE(server.is_up());
      TcpStream stream = TcpStream::connect(address);
      stream.write("x");
      EXPECT_EQ(end_of(stream), "bytes");
    });
    run();
  }
}

TEST_F(CrashTest, WhoWritesToARestartedMachineLearnsThatTheConnectionIsGone) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed);
    Node& server = world_->service("server", echo);
    world_->node("client", [&] {
      TcpStream stream = TcpStream::connect(server.address(7));
      server.crash();
      delay(1ms);
      server.restart();
      delay(1ms);
      try {
        stream.write("anybody there?");
        EXPECT_EQ(end_of(stream), "reset");
      } catch (const InputOutputError& error) {
        EXPECT_EQ(error.code(), ECONNRESET);
      }
    });
    run();
  }
}

TEST_F(CrashTest, WhoKeepsAConnectionAliveLearnsThatItIsGone) {
  for (const bool comes_up : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      begin(seed);
      Node& server = world_->service("server", echo);
      world_->node("client", [&] {
        TcpStream stream = TcpStream::connect(server.address(7));
        stream.set_keep_alive(10s);
        server.crash();
        delay(1ms);
        if (comes_up) server.restart();
        std::array<std::byte, 8> buffer;
        try {
          static_cast<void>(stream.read(buffer));
          ADD_FAILURE() << "nothing can come";
        } catch (const InputOutputError& error) {
          const bool is_told = now() < Instant() + 1s;
          EXPECT_EQ(error.code(), is_told || comes_up ? ECONNRESET : ETIMEDOUT);
          if (!is_told) {
            EXPECT_EQ(comes_up, now() < Instant() + 11s);
          }
        }
      });
      run();
    }
  }
}

TEST_F(CrashTest, AConnectionThatIsAcceptedWhenTheMachineCrashesIsNobodys) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed);
    Node& server = world_->service("server", echo);
    world_->node("client", [&] {
      delay(1ms);
      world_->at(250us, [&] { server.crash(); });
      try {
        TcpStream stream = TcpStream::connect(server.address(7));
        delay(1ms);
        world_->link("client", "server").cut();
      } catch (const InputOutputError&) {
      }
    });
    run();
  }
}

TEST_F(CrashTest, AConnectThatIsUnderWayFails) {
  std::set<int> codes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed);
    Node& server = world_->service("server", echo);
    world_->node("client", [&] {
      world_->at(100us, [&] { server.crash(); });
      try {
        (void)TcpStream::connect(server.address(7));
        ADD_FAILURE() << "expected an error";
      } catch (const InputOutputError& error) {
        codes.insert(error.code());
      }
    });
    run();
  }
  EXPECT_EQ(codes, (std::set<int>{ECONNREFUSED, ETIMEDOUT}));
}

TEST_F(CrashTest, WhatUnwindingDoesHasNoEffectOutside) {
  struct EndOfBody {
    TcpStream& stream;
    UdpSocket& socket;
    Address peer;
    ~EndOfBody() {
      try {
        stream.write("last words");
        socket.try_send_to(std::as_bytes(std::span("last words")), peer);
        fs::write_file("/words", "last words");
      } catch (...) {
      }
    }
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed);
    bool wrote = false;
    Node& talker = world_->service("talker", [&] {
      wrote = wrote || fs::list_directory("/").size() > 0;
      TcpListener listener = TcpListener::bind({"0.0.0.0", 7});
      auto peer = listener.accept();
      UdpSocket socket = UdpSocket::bind({"0.0.0.0", 0});
      const EndOfBody words{*peer, socket, peer->peer_address()};
      delay(1h);
    });
    world_->node("client", [&] {
      delay(1s);
      TcpStream stream = TcpStream::connect(talker.address(7));
      delay(1ms);
      talker.crash();
      EXPECT_NE(end_of(stream), "bytes");
      talker.restart();
      delay(1s);
    });
    run();
    EXPECT_FALSE(wrote);
  }
}

TEST_F(CrashTest, WhatWasSyncedSurvivesAndTheRestMay) {
  int kept = 0;
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    begin(seed);
    int starts = 0;
    std::string found;
    Node* store = nullptr;
    store = &world_->node("store", [&] {
      if (++starts == 2) {
        found = fs::read_file("/log");
        return;
      }
      File log = File::open("/log", OpenMode::appending());
      log.write("synced.");
      log.sync();
      fs::sync_directory("/");
      log.write("unsynced");
      store->crash();
      delay(1h);
    });
    world_->at(1s, [&] { store->restart(); });
    run();
    EXPECT_EQ(starts, 2);
    EXPECT_EQ(found.substr(0, 7), "synced.");
    kept += found == "synced.unsynced" ? 1 : 0;
    lost += found == "synced." ? 1 : 0;
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(lost, 0);
}

TEST_F(CrashTest, ASeedCrashesTheSameWayEveryTime) {
  const auto hash_of = [&](std::uint64_t seed) {
    begin(seed);
    Node& server = world_->service("server", echo);
    world_->node("client", [&] {
      for (int i = 0; i < 3; ++i) {
        TcpStream stream = TcpStream::connect(server.address(7));
        world_->at(random(400) * 1us, [&] { server.crash(); });
        (void)end_of(stream);
        delay(1ms);
        server.restart();
        delay(1ms);
      }
    });
    run();
    return world_->trace_hash();
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) EXPECT_EQ(hash_of(seed), hash_of(seed));
}

TEST_F(CrashTest, AProgramThatWaitsForAnotherWaitsForItToComeUpAgain) {
  begin(1);
  int starts = 0;
  world_->node("main", [&] {
    Node& other = world_->node("other", [&] {
      ++starts;
      delay(10ms);
    });
    world_->at(5ms, [&] { other.crash(); });
    world_->at(1s, [&] { other.restart(); });
    world_->run();
    EXPECT_EQ(now(), Instant() + 1s + 10ms);
  });
  run();
  EXPECT_EQ(starts, 2);
}

TEST_F(CrashTest, AServiceThatComesUpWhenTheOthersHaveEndedIsShutDown) {
  begin(1);
  int starts = 0;
  bool came_up = false;
  Node& down = world_->service("down", [&] {
    ++starts;
    echo();
  });
  world_->service("slow", [] {
    protect([] { delay(1s); });
    delay(1h);
  });
  world_->node("client", [&] {
    delay(1ms);
    down.crash();
    delay(1ms);
  });
  world_->at(10ms, [&] {
    down.restart();
    came_up = down.is_up();
  });
  run();
  EXPECT_TRUE(came_up);
  EXPECT_FALSE(down.is_up());
  EXPECT_EQ(starts, 2) << "it begins again, to be shut down";
}

TEST_F(CrashTest, OnlyWhatIsUpCanCrashAndOnlyWhatCrashedCanComeUp) {
  begin(1);
  Node& brief = world_->node("brief", [] {});
  EXPECT_EQ(error_of([&] { brief.crash(); }), "crash: the world does not run");
  world_->node("other", [&] {
    delay(1ms);
    EXPECT_EQ(error_of([&] { brief.crash(); }), "crash: node 'brief' is not up");
  });
  world_->at(2ms, [&] {
    EXPECT_EQ(error_of([&] { brief.restart(); }), "restart: node 'brief' has not crashed");
  });
  world_->node("last", [] { delay(3ms); });
  run();
}

}  // namespace
}  // namespace fermata::sim
