// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Streams, LoseNoByteInSilence, (const ScriptOf<kStreams> script)) {
  play(kStreams, script, world);
}

TEST(Streams, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "IO-01", "IO-02", "IO-03", "IO-04", "IO-06", "IO-08", "IO-09", "IO-15");
  FERMATA_CHECKS("G-03", "LIS-01", "LIS-02", "LIS-03", "LIS-04");
  expect_under_other_strategies(kStreams.name, exploration_of(kStreams));
}

}  // namespace
}  // namespace fermata::properties::scripts
