// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Triggers, TellOfEachFire, (const ScriptOf<kTriggers> script)) {
  play(kTriggers, script, world);
}

TEST(Triggers, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("THR-03", "THR-04");
  expect_under_other_strategies(kTriggers.name, exploration_of(kTriggers));
}

}  // namespace
}  // namespace fermata::properties::scripts
