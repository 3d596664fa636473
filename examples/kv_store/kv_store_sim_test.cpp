// SPDX-License-Identifier: Apache-2.0

// A machine that crashes again and again, on a disk that tears and loses what was not synced: what
// put() has returned for is there when it is up again.

#include <fermata/sim.hpp>

#include "examples/kv_store/kv_store.hpp"

namespace {

using namespace std::chrono_literals;

SIM_TEST(KvStore, KeepsWhatItHasAcknowledged) {
  std::map<std::string, std::string> acknowledged;
  int puts = 0;
  fermata::sim::Node& machine = world.node("store", [&] {
    try {
      Store store(".");
      for (const auto& [key, value] : acknowledged) EXPECT_EQ(store.get(key), value);
      while (puts < 12) {
        const std::string key = "key " + std::to_string(puts++);
        const std::string value(1 + fermata::random(20), 'v');
        store.put(key, value);
        acknowledged[key] = value;
      }
    } catch (const fermata::InputOutputError&) {  // The disk is full, or broken.
    }
  });
  for (int i = 1; i <= 3; ++i) {
    world.at(i * 2ms + fermata::random(4'000) * 1us, [&] {
      if (!machine.is_up()) return;
      machine.crash();
      machine.restart();
    });
  }
  world.run();
}

}  // namespace
