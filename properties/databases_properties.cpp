// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>

#include "properties/laws/expect_law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties::scripts {
namespace {

SIM_PROPERTY(Databases, KeepCoroutinesApart, (const ScriptOf<kDatabases> script)) {
  play(kDatabases, script, world);
}

TEST(Databases, HoldUnderEveryStrategy) {
  FERMATA_CHECKS("DB-02", "DB-03", "DB-04", "DB-05", "DB-06", "DB-07", "DB-09", "DB-11", "DB-13",
                 "DB-15", "G-03", "G-05");
  expect_under_other_strategies(kDatabases.name, exploration_of(kDatabases));
}

}  // namespace
}  // namespace fermata::properties::scripts
