// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Futures, EndOnceAndTellEverybodyTheSame, (const ScriptOf<kFutures> script)) {
  play(kFutures, script, world);
}

TEST(Futures, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("FUT-01", "FUT-02", "FUT-03", "FUT-04", "FUT-05", "FUT-06", "FUT-09", "FUT-10",
                 "FUT-12", "FUT-13", "FUT-15");
  expect_under_other_strategies(kFutures.name, exploration_of(kFutures));
}

}  // namespace
}  // namespace fermata::properties::scripts
