// SPDX-License-Identifier: Apache-2.0

// Clients, a proxy and a server, a machine each. A client says all, ends its side and waits for the
// answer: it gets all of that, or a reset, and in a world that has healed all of it. A proxy that
// closes a connection at the first of its two ends, instead of passing that on, loses the answers.

#include <algorithm>
#include <fermata/sim.hpp>
#include <string>

#include "examples/tcp_proxy/tcp_proxy.hpp"

namespace {

using namespace std::chrono_literals;
using fermata::TcpListener;
using fermata::TcpStream;

/// Up to the end. The reader is slow when `pause` is not zero.
std::string read_all(TcpStream& stream, fermata::Duration pause) {
  std::string text;
  std::array<std::byte, 700> buffer;
  while (const std::size_t size = stream.read(buffer)) {
    text.append(reinterpret_cast<const char*>(buffer.data()), size);
    if (pause > 0ms) fermata::delay(pause);
  }
  return text;
}

/// Answers with what the client has said, backwards, and nothing before it has said all.
void answer_backwards(TcpStream& client) {
  client.set_reset_on_close(true);  // An end would say that this was all.
  std::string text = read_all(client, 0ms);
  std::reverse(text.begin(), text.end());
  client.write(text);
  client.set_reset_on_close(false);
}

SIM_TEST(TcpProxy, PassesOnWhatBothSidesSayAndWhereItEnds) {
  world.service("server", [] {
    auto listener = TcpListener::bind({"0.0.0.0", 80});
    while (auto accepted = listener.accept()) {
      fermata::spawn("session", [client = std::move(*accepted)]() mutable {
        try {
          answer_backwards(client);
        } catch (const fermata::InputOutputError&) {
        }
      });
    }
  });
  world.service("proxy", [&world] {
    auto listener = TcpListener::bind({"0.0.0.0", 8080});
    const fermata::Address server = world.node("server").address(80);
    while (fermata::now() < fermata::Instant{} + 4s) {  // It drops everybody now and then.
      fermata::Scope conversations("conversations");
      conversations.spawn("proxy", [&] { proxy::serve(listener, server); });
      fermata::delay(50ms + fermata::random(500) * 1ms);
      conversations.cancel();
      conversations.await_after_cancellation();
    }
    proxy::serve(listener, server);
  });
  for (const char* name : {"ann", "bob"}) {
    world.node(name, [&, name = std::string(name)] {
      const std::string said(1 + fermata::random(20'000), name.front());
      const fermata::Duration pause = fermata::random(2) * 1ms;
      bool healed = false;
      while (true) {
        if (fermata::now() > fermata::Instant{} + 5s) {
          world.heal();
          healed = true;
        }
        try {
          auto stream = TcpStream::connect(world.node("proxy").address(8080));
          stream.write(said);
          stream.shutdown_write();
          EXPECT_EQ(read_all(stream, pause).size(), said.size());
          break;
        } catch (const fermata::InputOutputError& error) {
          EXPECT_FALSE(healed) << error.what();
          if (healed) break;
          fermata::delay(100ms);
        }
      }
    });
  }
  world.run();
}

}  // namespace
