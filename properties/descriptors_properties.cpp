// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Descriptors, CarryEveryByteAndTellWhoeverWaits,
             (const ScriptOf<kDescriptors> script)) {
  play(kDescriptors, script, world);
}

TEST(Descriptors, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "POLL-02", "POLL-03", "POLL-04");
  expect_under_other_strategies(kDescriptors.name, exploration_of(kDescriptors));
}

}  // namespace
}  // namespace fermata::properties::scripts
