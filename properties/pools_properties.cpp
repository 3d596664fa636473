// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Pools, LendEachResourceToOneAtATime, (const ScriptOf<kPools> script)) {
  play(kPools, script, world);
}

TEST(Pools, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("POOL-01", "POOL-02", "POOL-03", "POOL-04", "POOL-05", "POOL-07", "POOL-10",
                 "POOL-11", "POOL-12", "POOL-14", "POOL-15", "POOL-16", "POOL-17", "POOL-19",
                 "POOL-20", "POOL-21", "POOL-22", "G-03");
  expect_under_other_strategies(kPools.name, exploration_of(kPools));
}

}  // namespace
}  // namespace fermata::properties::scripts
