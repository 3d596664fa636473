// SPDX-License-Identifier: Apache-2.0

// A browser saves a text twice, each time on a connection of its own. Nothing says that what was
// sent first arrives first.

#include <array>
#include <memory>

#include "properties/zoo/applications/application.hpp"
#include "properties/zoo/applications/peers.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

namespace {

/// The next byte; 0 at the end of the stream.
char read_byte(TcpStream& stream, const SourcePlace& place = SourcePlace::current()) {
  std::array<std::byte, 1> byte{};
  return stream.read(byte, {}, place) == 0 ? '\0' : static_cast<char>(byte[0]);
}

}  // namespace

FERMATA_APPLICATION(TwoConnections) {
  const auto saved = std::make_shared<char>();
  world.service("server", [saved] {
    serve_each(80, [saved](TcpStream& client) {
      *saved = read_byte(client);
      client.write("k");
      static_cast<void>(read_all(client));
    });
  });
  const auto browser = spawn("browser", [&] {
    try {
      const Address server = world.node("server").address(80);
      auto one = TcpStream::connect(server);
      auto other = TcpStream::connect(server);
      one.write("1");
      if (variant == Variant::Correct && read_byte(one) != 'k') return;
      delay(1ms);
      other.write("2");
      if (variant == Variant::Buggy && read_byte(one) != 'k') return;
      if (read_byte(other) != 'k') return;
      EXPECT_EQ(*saved, '2');
    } catch (const InputOutputError&) {  // Nobody has been told that anything was saved.
    }
  });
  spawn_bystanders(3);
  await(browser);
}

}  // namespace fermata::properties::zoo
