// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Processes, EndOnceAndLeaveNothing, (const ScriptOf<kProcesses> script)) {
  play(kProcesses, script, world);
}

TEST(Processes, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "PROC-01", "PROC-03");
  FERMATA_CHECKS("EXE-01", "EXE-02", "EXE-03", "EXE-05");
  expect_under_other_strategies(kProcesses.name, exploration_of(kProcesses));
}

}  // namespace
}  // namespace fermata::properties::scripts
