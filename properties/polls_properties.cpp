// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Polls, TellWhoeverIsConcerned, (const ScriptOf<kPolls> script)) {
  play(kPolls, script, world);
}

TEST(Polls, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-05", "POLL-01", "POLL-02", "POLL-03", "POLL-04");
  expect_under_other_strategies(kPolls.name, exploration_of(kPolls));
}

}  // namespace
}  // namespace fermata::properties::scripts
