// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Datagrams, ArriveWholeOrNotAtAll, (const ScriptOf<kDatagrams> script)) {
  play(kDatagrams, script, world);
}

TEST(Datagrams, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "IO-06", "IO-09", "IO-13");
  expect_under_other_strategies(kDatagrams.name, exploration_of(kDatagrams));
}

}  // namespace
}  // namespace fermata::properties::scripts
