// SPDX-License-Identifier: Apache-2.0

// How a TCP socket of foreign code finds out that its peer is gone, of which nobody tells it. The
// times were measured on Linux.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/io/tcp.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kPeerPort = 7;
constexpr Duration kLeeway = 20ms;

struct Options {
  int idle = 0;  // Seconds; 0: SO_KEEPALIVE is not set.
  int interval = 75;
  int count = 9;
  int user_timeout = 0;  // Milliseconds.
};

void set(int socket, int level, int name, int value) {
  ASSERT_EQ(::setsockopt(socket, level, name, &value, sizeof value), 0) << name;
}

int socket_with(const Options& options) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (options.idle != 0) {
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, options.idle);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, options.interval);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, options.count);
  }
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, options.user_timeout);
  return socket;
}

int connect_to(int socket, const Address& peer) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPeerPort);
  ::inet_pton(AF_INET, peer.ip_text().c_str(), &address.sin_addr);
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

bool is_readable(int socket) {
  pollfd look = {socket, POLLIN, 0};
  return ::poll(&look, 1, 0) > 0;
}

void take_connections() {
  TcpListener listener = TcpListener::bind({"0.0.0.0", kPeerPort});
  std::vector<TcpStream> taken;
  while (auto peer = listener.accept()) taken.push_back(std::move(*peer));
}

class SilentPeers : public test::WorldFixture {
 protected:
  /// A read of `socket` must end with `code`, so long after `since`.
  static void expect_end(int socket, int code, Instant since, Duration span) {
    char byte;
    EXPECT_EQ(::recv(socket, &byte, 1, 0), -1);
    EXPECT_EQ(errno, code);
    EXPECT_GE(now() - since, span - kLeeway);
    EXPECT_LE(now() - since, span + kLeeway);
  }

  /// Calls `client` in worlds with a server, and a socket that is connected to it.
  void with_server(const Options& options, const std::function<void(Node&, int)>& client) {
    Node& server = world_->service("server", take_connections);
    world_->node("client", [&] {
      delay(1ms);
      const int socket = socket_with(options);
      ASSERT_EQ(connect_to(socket, server.address(kPeerPort)), 0);
      client(server, socket);
      ::close(socket);
    });
    run();
  }

  /// Calls `client` when the server's machine has crashed and nobody was told.
  void with_vanished_server(const Options& options, const std::function<void(Node&, int)>& client) {
    int silent = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      begin(seed);
      with_server(options, [&](Node& server, int socket) {
        server.crash();
        delay(1ms);
        if (is_readable(socket)) return;
        ++silent;
        client(server, socket);
      });
    }
    EXPECT_GT(silent, 0);
  }

  void expect_timeout(const Options& options, Duration span) {
    with_vanished_server(options,
                         [&](Node&, int socket) { expect_end(socket, ETIMEDOUT, now(), span); });
  }
};

TEST_F(SilentPeers, AreAskedUntilTheyWereAskedOftenEnough) {
  expect_timeout({.idle = 2, .interval = 1, .count = 3}, 5s);
  expect_timeout({.idle = 2, .interval = 1, .count = 1}, 3s);
  expect_timeout({.idle = 7200}, 2h + 9 * 75s);
}

TEST_F(SilentPeers, AreAskedUntilTheUsersLimitInsteadOfTheirNumber) {
  expect_timeout({.idle = 2, .interval = 1, .count = 9, .user_timeout = 4500}, 5s);
  expect_timeout({.idle = 2, .interval = 1, .count = 1, .user_timeout = 5500}, 6s);
  expect_timeout({.idle = 5, .interval = 5, .count = 9, .user_timeout = 1000}, 10s);
}

TEST_F(SilentPeers, AreNotMissedWithoutKeepAlive) {
  with_vanished_server({}, [](Node&, int socket) {
    const timeval span = {.tv_sec = 36'000, .tv_usec = 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &span, sizeof span);
    expect_end(socket, EAGAIN, now(), 10h);
  });
}

TEST_F(SilentPeers, AnswerWithAResetWhenTheirMachineIsUpAgain) {
  with_vanished_server({.idle = 2}, [](Node& server, int socket) {
    const Instant begun = now();
    server.restart();
    expect_end(socket, ECONNRESET, begun, 2s);
  });
}

TEST_F(SilentPeers, MayComeUpWhileTheyAreAsked) {
  with_vanished_server({.idle = 2, .interval = 1, .count = 3}, [this](Node& server, int socket) {
    world_->at(3500ms, [&] { server.restart(); });
    expect_end(socket, ECONNRESET, now(), 4s);
  });
}

TEST_F(SilentPeers, AreSentAgainWhatIsLost) {
  with_vanished_server({}, [this](Node& server, int socket) {
    ASSERT_EQ(::send(socket, "x", 1, 0), 1);
    world_->at(500ms, [&] { server.restart(); });
    expect_end(socket, ECONNRESET, now(), 600ms);
  });
}

TEST_F(SilentPeers, AreSentAgainWhatWasUnderWay) {
  int silent = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    begin(seed);
    with_server({}, [&](Node& server, int socket) {
      delay(1ms);
      ASSERT_EQ(::send(socket, "x", 1, 0), 1);
      server.crash();
      delay(1ms);
      if (is_readable(socket)) return;
      ++silent;
      server.restart();
      expect_end(socket, ECONNRESET, now(), 200ms);
    });
  }
  EXPECT_GT(silent, 0);
}

TEST_F(SilentPeers, AreGivenUpWhenTheyAcknowledgeNothing) {
  const auto expect = [&](const Options& options, Duration span) {
    with_vanished_server(options, [&](Node&, int socket) {
      ASSERT_EQ(::send(socket, "x", 1, 0), 1);
      expect_end(socket, ETIMEDOUT, now(), span);
    });
  };
  expect({}, 924'600ms);
  expect({.user_timeout = 3000}, 3200ms);
  expect({.idle = 1, .interval = 1, .count = 1, .user_timeout = 5000}, 5200ms);
}

TEST_F(SilentPeers, AreGivenUpBehindALinkThatIsCut) {
  const auto expect = [&](bool says, Duration span) {
    begin(1);
    with_server({.idle = 2, .interval = 1, .count = 4, .user_timeout = 3500},
                [&](Node&, int socket) {
                  world_->link("client", "server").cut();
                  if (says) {
                    EXPECT_EQ(::send(socket, "x", 1, 0), 1);
                  }
                  expect_end(socket, ETIMEDOUT, now(), span);
                });
  };
  expect(false, 4s);
  expect(true, 3700ms);
}

TEST_F(SilentPeers, AreNotGivenUpWhenTheyAnswerAgainInTime) {
  with_server({.idle = 2, .interval = 1, .count = 3}, [this](Node&, int socket) {
    world_->link("client", "server").cut();
    delay(3500ms);
    world_->link("client", "server").mend();
    delay(1h + 1s);
    EXPECT_FALSE(is_readable(socket));
    world_->link("client", "server").cut();
    expect_end(socket, ETIMEDOUT, now(), 4500ms);  // It has answered half a second before.
  });
}

TEST_F(SilentPeers, AreNoMatterWhileTheyCanBeHeard) {
  with_server({.idle = 1, .interval = 1, .count = 1}, [](Node&, int socket) {
    delay(10h);
    EXPECT_FALSE(is_readable(socket));
  });
}

TEST_F(SilentPeers, AreDialledNoLongerThanTheUsersLimit) {
  for (const auto& [limit, span] : {std::pair(3000, 3000ms), {300, 1000ms}, {0, 127'000ms}}) {
    begin(1);
    Node& server = world_->service("server", take_connections);
    world_->node("client", [&, limit = limit, span = span] {
      delay(1ms);
      const int socket = socket_with({.user_timeout = limit});
      world_->link("client", "server").cut();
      const Instant begun = now();
      EXPECT_EQ(connect_to(socket, server.address(kPeerPort)), -1);
      EXPECT_EQ(errno, ETIMEDOUT);
      EXPECT_EQ(now() - begun, span);
      ::close(socket);
    });
    run();
  }
}

}  // namespace
}  // namespace fermata::sim
