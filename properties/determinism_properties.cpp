// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "properties/laws/expect_law.hpp"
#include "properties/laws/law.hpp"
#include "properties/scripts/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

TEST(Determinism, OneSeedIsOneRun) {
  FERMATA_CHECKS("CORE-GL-11", "CORE-SC-20");
  for (const Law* law : laws()) expect_repeatable(law->name, exploration_of(*law));
  for (const scripts::Law* law : scripts::laws()) {
    expect_repeatable(law->name, exploration_of(*law));
  }
}

TEST(Determinism, ResultsThatDoNotRaceAreTheSameUnderEverySchedule) {
  FERMATA_CHECKS("CORE-GL-12");
  expect_under_other_strategies("choice_independence", exploration_of_bystanders());
  expect_repeatable("choice_independence", exploration_of_bystanders());
}

}  // namespace
}  // namespace fermata::properties
