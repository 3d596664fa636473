// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Watches, TellWhatChanges, (const ScriptOf<kWatches> script)) {
  play(kWatches, script, world);
}

TEST(Watches, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "FS-01", "FS-02", "FS-03", "FS-04", "FS-05", "FS-06");
  expect_under_other_strategies(kWatches.name, exploration_of(kWatches));
}

}  // namespace
}  // namespace fermata::properties::scripts
