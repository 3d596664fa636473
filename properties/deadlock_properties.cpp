// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/laws/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

// The report of a deadlock, against what the program itself knows about its waits.
SIM_PROPERTY(Deadlock, IsReportedWhenNobodyCanGoOnAndOnlyThen,
             (const ProgramOf<kDeadlock> program)) {
  static Machine machine;
  play(machine, program, world);
}

TEST(Deadlock, HoldsUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-SC-08", "CORE-SC-10", "CORE-SC-11", "CORE-SC-12", "CORE-EV-11",
                 "CORE-GL-01");
  expect_under_other_strategies(kDeadlock.name, exploration_of(kDeadlock));
}

}  // namespace
}  // namespace fermata::properties
