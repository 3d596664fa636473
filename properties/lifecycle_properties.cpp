// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/laws/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

// Coroutines that cancel, protect, await, throw and end in every order.
SIM_PROPERTY(Lifecycle, EndsEachCoroutineOnceAndTellsItOfCancellations,
             (const ProgramOf<kLifecycle> program)) {
  static Machine machine;
  play(machine, program, world);
}

TEST(Lifecycle, HoldsUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-CO-01", "CORE-CO-03", "CORE-CO-04", "CORE-CO-05", "CORE-CO-06", "CORE-CO-07",
                 "CORE-CO-14", "CORE-CO-17", "CORE-CO-18", "CORE-GL-05", "CORE-GL-10", "CORE-GL-14",
                 "CORE-SC-04", "CORE-SC-19");
  expect_under_other_strategies(kLifecycle.name, exploration_of(kLifecycle));
}

}  // namespace
}  // namespace fermata::properties
