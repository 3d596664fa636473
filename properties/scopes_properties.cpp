// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "fermata/runtime.hpp"
#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Scopes, EndFromTheBottomUp, (const ScriptOf<kScopes> script)) {
  play(kScopes, script, world);
}

TEST(Scopes, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("G-08");
  FERMATA_CHECKS("CORE-SP-01", "CORE-SP-03", "CORE-SP-04", "CORE-SP-05", "CORE-SP-07", "CORE-SP-08",
                 "CORE-SP-10", "CORE-SP-11", "CORE-SP-13", "CORE-SP-14", "CORE-GL-10");
  expect_under_other_strategies(kScopes.name, exploration_of(kScopes));
}

}  // namespace
}  // namespace fermata::properties::scripts
