// SPDX-License-Identifier: Apache-2.0

// A client of a database connects when it is first needed. That it is about to is noted only when
// it has connected: whoever needs it meanwhile connects, too, and the first connection is nobody's.
// (Z-AP-03)

#include <mutex>
#include <optional>

#include "properties/zoo/applications/application.hpp"
#include "properties/zoo/applications/peers.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(LazyInit) {
  world.service("database", [] {
    serve_each(5432, [](TcpStream& client) { static_cast<void>(read_all(client)); });
  });
  std::optional<TcpStream> connection;
  Mutex connecting("connecting");
  int opened = 0;
  const auto query = [&] {
    std::unique_lock<Mutex> lock(connecting, std::defer_lock);
    if (variant == Variant::Correct) lock.lock();
    if (connection) return;
    try {
      auto fresh = TcpStream::connect(world.node("database").address(5432));
      ++opened;
      connection = std::move(fresh);
    } catch (const InputOutputError&) {  // The next query tries again.
    }
  };
  const auto first = spawn("first", query);
  spawn_bystanders(3);
  delay(2ms);
  const auto second = spawn("second", query);
  await(first);
  await(second);
  EXPECT_LE(opened, 1);
}

}  // namespace fermata::properties::zoo
