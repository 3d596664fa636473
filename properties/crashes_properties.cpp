// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Crashes, LeaveWhatWasSynced, (const ScriptOf<kCrashes> script)) {
  play(kCrashes, script, world);
}

TEST(Crashes, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "G-09", "IO-10");
  expect_under_other_strategies(kCrashes.name, exploration_of(kCrashes));
}

}  // namespace
}  // namespace fermata::properties::scripts
