// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/laws/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

// A shutdown at any moment, from a body or a callback, also a second one.
SIM_PROPERTY(GracefulShutdown, EndsEveryCoroutineAndLeavesNothing,
             (const ProgramOf<kGracefulShutdown> program)) {
  static Machine machine;
  play(machine, program, world);
}

TEST(GracefulShutdown, HoldsUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-CO-01", "CORE-CO-07", "CORE-CO-12", "CORE-CO-18", "CORE-SC-13", "CORE-SC-14",
                 "CORE-GL-09", "CORE-GL-10");
  expect_under_other_strategies(kGracefulShutdown.name, exploration_of(kGracefulShutdown));
}

}  // namespace
}  // namespace fermata::properties
