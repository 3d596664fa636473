// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Names, HaveOneOutcome, (const ScriptOf<kNames> script)) {
  play(kNames, script, world);
}

TEST(Names, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "DNS-01", "DNS-02");
  expect_under_other_strategies(kNames.name, exploration_of(kNames));
}

}  // namespace
}  // namespace fermata::properties::scripts
