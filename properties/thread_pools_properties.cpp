// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(ThreadPools, RunEachTaskOnce, (const ScriptOf<kThreadPools> script)) {
  play(kThreadPools, script, world);
}

TEST(ThreadPools, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("TP-01", "TP-02", "TP-03", "TP-04", "TP-05", "TP-06", "TP-07", "TP-08");
  expect_under_other_strategies(kThreadPools.name, exploration_of(kThreadPools));
}

}  // namespace
}  // namespace fermata::properties::scripts
