// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Channels, LoseNothingAndServeInTheOrderOfArrival, (const ScriptOf<kChannels> script)) {
  play(kChannels, script, world);
}

TEST(Channels, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-GL-08", "G-03", "G-04", "G-06");
  FERMATA_CHECKS("CHAN-01", "CHAN-02", "CHAN-03", "CHAN-04", "CHAN-07", "CHAN-08", "CHAN-09",
                 "CHAN-11", "CHAN-12", "CHAN-13", "CHAN-14", "CHAN-15", "CHAN-16", "CHAN-17",
                 "CHAN-20");
  expect_under_other_strategies(kChannels.name, exploration_of(kChannels));
}

}  // namespace
}  // namespace fermata::properties::scripts
