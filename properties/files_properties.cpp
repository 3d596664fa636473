// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Files, HaveWhatWasWrittenToThem, (const ScriptOf<kFiles> script)) {
  play(kFiles, script, world);
}

TEST(Files, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "IO-01", "IO-05", "IO-08", "IO-10");
  expect_under_other_strategies(kFiles.name, exploration_of(kFiles));
}

}  // namespace
}  // namespace fermata::properties::scripts
