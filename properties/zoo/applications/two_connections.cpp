// SPDX-License-Identifier: Apache-2.0

// A browser saves a text twice, each time on a connection of its own. Nothing says that what was
// sent first arrives first.

#include <fermata/sim.hpp>
#include <memory>

#include "properties/zoo/applications/application.hpp"
#include "properties/zoo/applications/peers.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(TwoConnections) {
  const auto saved = std::make_shared<std::string>();
  world.service("server", [saved] {
    serve_each(80, [saved](TcpStream& client) {
      *saved = read_line(client);
      client.write("saved\n");
      static_cast<void>(read_all(client));
    });
  });
  const auto browser = spawn("browser", [&] {
    try {
      const Address server = world.node("server").address(80);
      auto one = TcpStream::connect(server);
      auto other = TcpStream::connect(server);
      const auto is_saved = [](TcpStream& on) { return read_line(on) == "saved"; };
      one.write("old\n");
      if (variant == Variant::Correct && !is_saved(one)) return;
      delay(1ms);
      other.write("new\n");
      if (variant == Variant::Buggy && !is_saved(one)) return;
      if (!is_saved(other)) return;
      EXPECT_EQ(*saved, "new");
    } catch (const InputOutputError&) {  // Nobody has been told that anything was saved.
    }
  });
  spawn_bystanders(3);
  await(browser);
}

}  // namespace fermata::properties::zoo
