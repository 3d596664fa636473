// SPDX-License-Identifier: Apache-2.0

// Two users of one client, whose requests are hedged: each gets the answer to its own question, or
// an error.

#include <fermata/sim.hpp>
#include <string>
#include <vector>

#include "examples/hedged_pool/hedged_pool.hpp"

namespace {

using namespace std::chrono_literals;

void get_some(hedged_pool::Client& client, const std::string& user) {
  for (int i = 1; i <= 3; ++i) {
    const std::string key = user + "-" + std::to_string(i);
    try {
      EXPECT_EQ(client.get(key), key + "=value of " + key);
    } catch (const fermata::ServiceUnavailable&) {
      FERMATA_REACHABLE("the circuit is open");
      fermata::delay(500ms);
    } catch (const fermata::Error&) {  // The network.
    }
  }
}

void use(fermata::sim::World& world, hedged_pool::Options options) {
  auto& origin = world.service(
      "origin", [&world] { hedged_pool::serve_origin(world.node("origin").address(7000)); });
  world.node("front", [&] {
    hedged_pool::Client client(origin.address(7000), options);
    std::vector<fermata::Coroutine<>> users;
    for (const std::string name : {"ann", "bob"}) {
      users.push_back(fermata::spawn(name, [&, name] { get_some(client, name); }));
    }
    fermata::when_all_settled(users);
  });
  world.nemesis({.machines = {"origin"}});
  world.run();
}

SIM_TEST(HedgedPool, AnswersBelongToTheirQuestions) { use(world, {}); }

// The planted bug; `--gtest_also_run_disabled_tests` runs it.
// Finds: safety: always: an answer belongs to its question
SIM_TEST(HedgedPool, DISABLED_CancelledRequestsGiveTheirConnectionsBack) {
  use(world, {.discard_cancelled = false});
}

}  // namespace
