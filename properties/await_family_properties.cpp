// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(AwaitFamily, SettlesOnce, (const ScriptOf<kAwaitFamily> script)) {
  play(kAwaitFamily, script, world);
}

TEST(AwaitFamily, HoldsUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-AW-01", "CORE-AW-02", "CORE-AW-03", "CORE-AW-04", "CORE-AW-05", "CORE-AW-08",
                 "CORE-AW-09", "CORE-AW-11", "CORE-AW-12", "CORE-CN-02");
  expect_under_other_strategies(kAwaitFamily.name, exploration_of(kAwaitFamily));
}

}  // namespace
}  // namespace fermata::properties::scripts
