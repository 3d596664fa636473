// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Offload, RunsOnceAndTellsOnce, (const ScriptOf<kOffload> script)) {
  play(kOffload, script, world);
}

TEST(Offload, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "THR-01", "THR-02");
  expect_under_other_strategies(kOffload.name, exploration_of(kOffload));
}

}  // namespace
}  // namespace fermata::properties::scripts
