// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fermata/runtime.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::sim {
namespace {

TEST(World, StartsAfreshAfterARunThatFailed) {
  const auto strategy = make_strategy("calm");
  Decisions decisions(*strategy);
  World world(decisions);
  const auto run = [&](bool break_something) {
    world.reset();
    decisions.begin(1);
    world.node("main", [&] {
      if (break_something) current_runtime().kernel().active_events += 1;
      suspend();
    });
    world.run();
    return world.trace_hash();
  };
  const auto before = run(false);
  run(true);
  ASSERT_TRUE(world.failure()) << "the audit has not noticed the wrong count";
  EXPECT_EQ(run(false), before);
  EXPECT_FALSE(world.failure());
}

}  // namespace
}  // namespace fermata::sim
