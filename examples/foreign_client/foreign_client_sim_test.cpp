// SPDX-License-Identifier: Apache-2.0

// Debian's hiredis, unchanged, in a simulated machine, on a network with faults.

#include <fermata/sim.hpp>
#include <memory>

#include "examples/foreign_client/store.hpp"
#include "examples/foreign_client/visitors.hpp"

namespace {

using namespace std::chrono_literals;
using foreign_client::Store;
using foreign_client::Visitors;
using foreign_client::Way;

constexpr int kPort = 6379;

void every_visitor_is_counted_once(fermata::sim::World& world, Way way) {
  const auto store = std::make_shared<Store>();
  world.service("store", [store] { serve(kPort, store); });
  world.node("door", [way] {
    Visitors visitors("store", kPort, way);
    for (const char* name : {"ann", "bob", "eve"}) visitors.count(name);
  });
  world.at(20s, [&] { world.heal(); });
  world.run();
  FERMATA_ALWAYS_EQ(store->count("visitors"), 3u, "every visitor is counted once");
}

SIM_TEST(ForeignClient, EveryVisitorIsCountedOnce) {
  every_visitor_is_counted_once(world, Way::kAddToSet);
}

// The planted bug; `--gtest_also_run_disabled_tests` runs it.
// Finds: safety: always: every visitor is counted once
SIM_TEST(ForeignClient, DISABLED_ARetryCountsTwice) {
  every_visitor_is_counted_once(world, Way::kIncrement);
}

}  // namespace
