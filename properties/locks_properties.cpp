// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Locks, ExcludeServeInOrderAndLoseNothing, (const ScriptOf<kLocks> script)) {
  play(kLocks, script, world);
}

TEST(Locks, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-GL-07", "CORE-GL-08");
  expect_under_other_strategies(kLocks.name, exploration_of(kLocks));
}

}  // namespace
}  // namespace fermata::properties::scripts
