// SPDX-License-Identifier: Apache-2.0

#include "examples/read_cache/read_cache.hpp"

#include <chrono>
#include <fermata/sim.hpp>
#include <string>
#include <vector>

using namespace fermata::sim::models;

SIM_TEST(Setting, IsOneRegister) {
  Setting setting;
  fermata::sim::History<Register<int>> history(world, "setting");
  std::vector<fermata::Coroutine<>> clients;
  for (int id = 1; id <= 3; ++id) {
    clients.push_back(fermata::spawn("client", [&, id] {
      const std::string client = "client " + std::to_string(id);
      for (int round = 0; round < 3; ++round) {
        fermata::delay(std::chrono::microseconds(fermata::random(3'000)));
        history.call(client, Write{3 * round + id}, [&] { setting.write(3 * round + id); });
        history.call(client, Read{}, [&] { return setting.read(); });
      }
    }));
  }
  for (const auto& client : clients) fermata::await(client);
  history.expect_linearizable();
}
