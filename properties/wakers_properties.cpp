// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/laws/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

// Waits with tokens and timeouts, answered, cancelled, or both at once.
SIM_PROPERTY(Wakers, EndAWaitOnceAndLeaveNothingBehind, (const ProgramOf<kWakers> program)) {
  static Machine machine;
  play(machine, program, world);
}

TEST(Wakers, HoldsUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-WK-02", "CORE-WK-09", "CORE-WK-14", "CORE-EV-13", "CORE-GL-01", "CORE-GL-06",
                 "CORE-GL-14");
  expect_under_other_strategies(kWakers.name, exploration_of(kWakers));
}

}  // namespace
}  // namespace fermata::properties
