// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/laws/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

// Counts of references and of starts, recounted from holders and waits after each step.
SIM_PROPERTY(ReferenceCounts, AgreeWithWhoHoldsAndWhoStarts,
             (const ProgramOf<kReferenceCounts> program)) {
  static Machine machine;
  play(machine, program, world);
}

TEST(ReferenceCounts, HoldsUnderEveryStrategy) {
  FERMATA_CHECKS("CORE-EV-01", "CORE-EV-02", "CORE-EV-03", "CORE-EV-04", "CORE-EV-05", "CORE-EV-09",
                 "CORE-EV-10", "CORE-CB-06", "CORE-WK-06", "CORE-GL-02", "CORE-GL-03", "CORE-GL-04",
                 "CORE-GL-13");
  expect_under_other_strategies(kReferenceCounts.name, exploration_of(kReferenceCounts));
}

}  // namespace
}  // namespace fermata::properties
