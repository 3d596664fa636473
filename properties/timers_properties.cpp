// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/laws/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

// Timers of every kind among coroutines that compute, so that time passes inside steps.
SIM_PROPERTY(Timers, AreNeverEarlyAndFireInOrder, (const ProgramOf<kTimers> program)) {
  static Machine machine;
  play(machine, program, world);
}

TEST(Timers, HoldsUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-EV-06", "CORE-EV-07", "CORE-EV-16", "TMR-01", "TMR-03", "TMR-04");
  expect_under_other_strategies(kTimers.name, exploration_of(kTimers));
}

}  // namespace
}  // namespace fermata::properties
