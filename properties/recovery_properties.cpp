// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Recovery, KeepsWhatWasConfirmed, (const ScriptOf<kRecovery> script)) {
  play(kRecovery, script, world);
}

TEST(Recovery, HoldsUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "G-09");
  expect_under_other_strategies(kRecovery.name, exploration_of(kRecovery));
}

}  // namespace
}  // namespace fermata::properties::scripts
