// SPDX-License-Identifier: Apache-2.0

// write_some writes what the system takes at once, which is nearly always everything.

#include <span>
#include <string_view>

#include "properties/zoo/applications/application.hpp"
#include "properties/zoo/applications/peers.hpp"

namespace fermata::properties::zoo {

namespace {
constexpr std::string_view kOrder = "100 apples";
}

FERMATA_APPLICATION(PartialWrite) {
  world.service("shop", [] {
    serve_each(80, [](TcpStream& client) {
      const std::string received = read_all(client);
      EXPECT_EQ(received, kOrder);
    });
  });
  const auto customer = spawn("customer", [&] {
    try {
      auto shop = TcpStream::connect(world.node("shop").address(80));
      shop.set_reset_on_close(true);  // An end would say that this was all.
      if (variant == Variant::Buggy) {
        static_cast<void>(shop.write_some(std::as_bytes(std::span(kOrder))));
      } else {
        shop.write(kOrder);
      }
      shop.shutdown_write();
      static_cast<void>(read_all(shop));  // Until the shop has everything.
    } catch (const InputOutputError&) {
    }
  });
  spawn_bystanders(3);
  await(customer);
}

}  // namespace fermata::properties::zoo
