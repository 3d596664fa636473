// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(WaitLines, ServeInTheOrderOfArrival, (const ScriptOf<kWaitLines> script)) {
  play(kWaitLines, script, world);
}

TEST(WaitLines, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-GL-07", "CORE-GL-08", "CORE-WK-13");
  expect_under_other_strategies(kWaitLines.name, exploration_of(kWaitLines));
}

}  // namespace
}  // namespace fermata::properties::scripts
