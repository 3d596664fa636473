// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "properties/laws/holds.hpp"
#include "properties/laws/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

TEST(Determinism, OneSeedIsOneRun) {
  FERMATA_CHECKS("CORE-GL-11", "CORE-SC-20");
  for (const Law* law : laws()) EXPECT_TRUE(is_repeatable(*law));
}

TEST(Determinism, ResultsThatDoNotRaceAreTheSameUnderEverySchedule) {
  FERMATA_CHECKS("CORE-GL-12");
  EXPECT_TRUE(holds_under_other_strategies(kChoiceIndependence));
}

}  // namespace
}  // namespace fermata::properties
