// SPDX-License-Identifier: Apache-2.0

// A client asks, ends its side and waits for the answer. The server takes the end of the stream for
// the end of the client, and stops working for it. On a quick network it has answered by then.

#include <memory>

#include "properties/zoo/applications/application.hpp"
#include "properties/zoo/applications/peers.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

namespace {

void answer(TcpStream& stream, Variant variant) {
  if (read_line(stream).empty()) return;
  const auto client = std::make_shared<TcpStream>(std::move(stream));
  const auto work = spawn("work", [client] {
    delay(1ms);
    try {
      client->write("42\n");
    } catch (const InputOutputError&) {
    }
  });
  if (!read_all(*client).empty()) return;
  if (variant == Variant::Buggy) work.cancel();  // Nobody wants the answer any more.
  await(work);
}

}  // namespace

FERMATA_APPLICATION(HalfClose) {
  world.service("server", [variant] {
    serve_each(80, [variant](TcpStream& stream) { answer(stream, variant); });
  });
  const auto asks = spawn("client", [&] {
    try {
      auto server = TcpStream::connect(world.node("server").address(80));
      server.write("what is it?\n");
      delay(2ms);
      server.shutdown_write();
      const std::string answer = read_all(server);
      EXPECT_EQ(answer, "42\n");
    } catch (const InputOutputError&) {
    }
  });
  spawn_bystanders(3);
  await(asks);
}

}  // namespace fermata::properties::zoo
