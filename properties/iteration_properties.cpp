// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Iteration, HandsOutEachElementOnce, (const ScriptOf<kIteration> script)) {
  play(kIteration, script, world);
}

TEST(Iteration, HoldsUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-IT-01", "CORE-IT-02", "CORE-IT-04", "CORE-IT-05", "CORE-IT-06", "CORE-IT-07",
                 "CORE-IT-10");
  expect_under_other_strategies(kIteration.name, exploration_of(kIteration));
}

}  // namespace
}  // namespace fermata::properties::scripts
