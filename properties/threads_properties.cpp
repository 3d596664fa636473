// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Threads, EndOnceAndTellEverybody, (const ScriptOf<kThreads> script)) {
  play(kThreads, script, world);
}

TEST(Threads, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("THR-05", "THR-06", "THR-07");
  expect_under_other_strategies(kThreads.name, exploration_of(kThreads));
}

}  // namespace
}  // namespace fermata::properties::scripts
