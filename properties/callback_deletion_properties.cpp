// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/laws/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

// Subscribers that come, go, throw and notify again while a pass is walking over them.
SIM_PROPERTY(CallbackDeletion, CallsWhoIsThereAndNotRemovedOnce,
             (const ProgramOf<kCallbackDeletion> program)) {
  static Machine machine;
  play(machine, program, world);
}

TEST(CallbackDeletion, HoldsUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-CB-01", "CORE-CB-02", "CORE-CB-03", "CORE-CB-04", "CORE-CB-06", "CORE-CB-07",
                 "CORE-CB-08", "CORE-CB-09", "CORE-CB-10", "CORE-CB-11", "CORE-CB-12", "CORE-EV-08",
                 "CORE-SC-19", "CORE-GL-13", "EVT-03");
  expect_under_other_strategies(kCallbackDeletion.name, exploration_of(kCallbackDeletion));
}

}  // namespace
}  // namespace fermata::properties
