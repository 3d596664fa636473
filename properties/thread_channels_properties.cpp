// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(ThreadChannels, LoseNothingAndPassNobodyOver,
             (const ScriptOf<kThreadChannels> script)) {
  play(kThreadChannels, script, world);
}

TEST(ThreadChannels, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-03", "TC-01", "TC-02", "TC-03", "TC-04");
  expect_under_other_strategies(kThreadChannels.name, exploration_of(kThreadChannels));
}

}  // namespace
}  // namespace fermata::properties::scripts
