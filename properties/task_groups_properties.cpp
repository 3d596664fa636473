// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(TaskGroups, RunWithinTheirLimitAndSettleOnce, (const ScriptOf<kTaskGroups> script)) {
  play(kTaskGroups, script, world);
}

TEST(TaskGroups, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-03", "G-07");
  FERMATA_CHECKS("TG-01", "TG-02", "TG-03", "TG-04", "TG-05", "TG-09", "TG-15");
  expect_under_other_strategies(kTaskGroups.name, exploration_of(kTaskGroups));
}

}  // namespace
}  // namespace fermata::properties::scripts
