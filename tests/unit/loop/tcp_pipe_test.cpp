// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/pipe.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
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
class LoopTcpPipe : public ::testing::Test {};
TYPED_TEST_SUITE(LoopTcpPipe, conformance::PollableArms);

/// Joins whoever connects with `target`, to and fro.
class Proxy {
 public:
  Proxy(Loop& loop, const Address& target, const TcpOptions& options)
      : server_(loop, kAnyPort, handlers(loop, target, options), {.connection = options}) {}

  [[nodiscard]] TcpServer& server() { return server_; }

 private:
  struct Pair {
    std::unique_ptr<TcpPipe> to;
    std::unique_ptr<TcpPipe> fro;
  };
  TcpHandlers handlers(Loop& loop, const Address& target, const TcpOptions& options) {
    TcpHandlers handlers;
    handlers.on_connect = [this, &loop, target, options](TcpConnection& client) {
      const auto behind = TcpConnection::connect(loop, target, {}, TcpClientOptions{options});
      pairs_[client.id()] = {std::make_unique<TcpPipe>(client, *behind),
                             std::make_unique<TcpPipe>(*behind, client)};
    };
    handlers.on_close = [this](TcpConnection& client) {
      pairs_.erase(client.id());
      server_.stop(0s);
    };
    return handlers;
  }

  std::map<std::uint64_t, Pair> pairs_;
  TcpServer server_;
};

MAIN_TYPED_TEST(LoopTcpPipe, TwoOfThemJoinTwoConnectionsAndKeepMemoryBounded) {
  constexpr std::size_t kSize = 3'000'000;
  Loop loop;
  TcpListener target = TcpListener::bind(kAnyPort);
  std::string got;
  auto behind = spawn("behind", [&] {
    auto stream = target.accept();
    delay(20ms);  // The proxy's queue fills meanwhile.
    got = read_text(*stream);
    write_text(*stream, "thanks");
  });
  Proxy proxy(loop, target.local_address(),
              {.marks = {.high = 100'000, .low = 10'000}, .allow_half_open = true});
  std::string sent;
  for (std::size_t i = 0; i < kSize; ++i) sent += static_cast<char>('a' + i * i % 23);
  std::string answer;
  auto client = peer_of(proxy.server().local_address(), [&](TcpStream& stream) {
    write_text(stream, sent);
    stream.shutdown_write();
    answer = read_text(stream);
  });
  loop.run();
  await(client);
  await(behind);
  EXPECT_TRUE(got == sent);
  EXPECT_EQ(answer, "thanks");
  EXPECT_EQ(loop.timer_count(), 0u);
}

MAIN_TYPED_TEST(LoopTcpPipe, PutsTheHandlersBack) {
  Loop loop;
  Told told;
  std::unique_ptr<TcpPipe> echo;
  TcpServer server(loop, kAnyPort, told.handlers([&](TcpConnection& who, const std::string& line) {
    if (line == "connect") echo = std::make_unique<TcpPipe>(who, who);
    if (line == "close") server.stop(0s);
  }),
                   {.connection = {.framing = lines}});
  auto peer = peer_of(server.local_address(), [&](TcpStream& stream) {
    std::string buffer(64, '\0');
    write_text(stream, "one\n");
    EXPECT_EQ(stream.read(std::as_writable_bytes(std::span(buffer))), 4u);
    echo->stop();
    EXPECT_FALSE(echo->is_active());
    write_text(stream, "two\n");
  });
  loop.run();
  await(peer);
  EXPECT_EQ(told.lines(), (Lines{"connect", "message two", "close"}));
}

MAIN_TYPED_TEST(LoopTcpPipe, SeveralSourcesShareADestination) {
  constexpr int kEach = 2'000;
  Loop loop;
  TcpListener target = TcpListener::bind(kAnyPort);
  std::string got;
  auto behind = spawn("behind", [&] {
    auto stream = target.accept();
    delay(10ms);
    got = read_text(*stream);
  });
  TcpClientOptions options;
  options.framing = lines;
  options.marks = {.high = 5'000, .low = 500};
  const auto sink = TcpConnection::connect(loop, target.local_address(), {}, options);
  std::vector<std::unique_ptr<TcpPipe>> pipes;
  int closed = 0;
  std::unique_ptr<TcpServer> server;
  TcpHandlers handlers;
  handlers.on_connect = [&](TcpConnection& who) {
    pipes.push_back(std::make_unique<TcpPipe>(who, *sink, TcpPipeOptions{.close_other = false}));
  };
  handlers.on_close = [&](TcpConnection&) {
    if (++closed < 2) return;
    sink->close();
    server->stop(0s);
  };
  server = std::make_unique<TcpServer>(loop, kAnyPort, std::move(handlers),
                                       TcpServerOptions{.connection = options});
  std::vector<Coroutine<>> peers;
  for (const char name : {'a', 'b'}) {
    peers.push_back(peer_of(server->local_address(), [name](TcpStream& stream) {
      std::string all;
      for (int i = 0; i < kEach; ++i) all += name + std::to_string(i) + "\n";
      write_text(stream, all);
    }));
  }
  loop.run();
  for (const auto& peer : peers) await(peer);
  await(behind);
  std::map<char, int> next;
  for (std::size_t at = 0; at < got.size();) {
    const std::size_t end = got.find('\n', at);
    EXPECT_EQ(got.substr(at + 1, end - at - 1), std::to_string(next[got[at]]++));
    at = end + 1;
  }
  EXPECT_EQ(next, (std::map<char, int>{{'a', kEach}, {'b', kEach}}));
}

MAIN_TYPED_TEST(LoopTcpPipe, RefusesClosedEndsAndASecondWayOut) {
  Loop loop;
  TcpListener target = TcpListener::bind(kAnyPort);
  const auto a = TcpConnection::connect(loop, target.local_address(), {});
  const auto b = TcpConnection::connect(loop, target.local_address(), {});
  const TcpPipe first(*a, *b);
  EXPECT_EQ(error_of([&] { const TcpPipe second(*a, *a); }),
            "pipe: the messages of this connection go into another pipe already");
  b->destroy();
  EXPECT_FALSE(first.is_active());
  EXPECT_EQ(a->state(), TcpState::Closed) << "connecting, it is destroyed at once";
  EXPECT_EQ(error_of([&] { const TcpPipe third(*a, *b); }),
            "pipe: connection " + std::to_string(a->id()) + " is closed, expected an open one");
  loop.run();
}

}  // namespace
}  // namespace fermata::loop
