// SPDX-License-Identifier: Apache-2.0

// A server subscribes to the messages of a connection when it has read its configuration. What has
// been dispatched by then, nobody has heard. (Z-AP-04)

#include <functional>
#include <string>

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(LateHandler) {
  Channel<std::string> arrived("arrived", 4);
  std::function<void(const std::string&)> on_message;
  int handled = 0;

  const auto dispatcher = spawn("dispatcher", [&] {
    while (const auto message = arrived.next()) {
      if (on_message) on_message(*message);
    }
  });
  const auto subscribe = [&] { on_message = [&](const std::string&) { ++handled; }; };
  if (variant == Variant::Correct) subscribe();
  const auto server = spawn("server", [&] {
    delay(2ms);  // the configuration
    if (variant == Variant::Buggy) subscribe();
  });
  spawn_bystanders(3);
  delay(1ms);
  const auto client = spawn("client", [&] {
    delay(1ms);
    arrived.send("hello");
  });
  await(server);
  await(client);
  arrived.close();
  await(dispatcher);
  EXPECT_EQ(handled, 1);
}

}  // namespace fermata::properties::zoo
