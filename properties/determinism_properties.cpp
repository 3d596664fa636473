// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "properties/laws/holds.hpp"
#include "properties/laws/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {

// For the names that test programs list.
void PrintTo(const Law* law, std::ostream* out) { *out << law->name; }

namespace {

class DeterminismOf : public ::testing::TestWithParam<const Law*> {};

TEST_P(DeterminismOf, OneSeedIsOneRun) {
  FERMATA_CHECKS("CORE-GL-11", "CORE-SC-20");
  EXPECT_TRUE(is_repeatable(*GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Laws, DeterminismOf, ::testing::ValuesIn(laws()),
                         [](const auto& law) { return std::string(law.param->name); });

TEST(Determinism, ResultsThatDoNotRaceAreTheSameUnderEverySchedule) {
  FERMATA_CHECKS("CORE-GL-12");
  EXPECT_TRUE(holds_under_other_strategies(kChoiceIndependence));
}

}  // namespace
}  // namespace fermata::properties
