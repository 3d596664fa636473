// SPDX-License-Identifier: Apache-2.0
#pragma once

// What tests say about laws: EXPECT_TRUE(holds_under_other_strategies(law)).

#include <gtest/gtest.h>

#include <cstdint>

#include "properties/laws/law.hpp"

namespace fermata::properties {

/// Explores scripts of `law` with the strategies that SIM_PROPERTY does not take by itself,
/// FERMATA_RUNS schedules each. A failure has the first finding and how to see it again.
[[nodiscard]] ::testing::AssertionResult holds_under_other_strategies(const Law& law);

/// One run of it, as with `fermata_suite --only NAME --strategy STRATEGY --seed SEED --runs 1`.
[[nodiscard]] ::testing::AssertionResult holds_in_run(const Law& law, const char* strategy,
                                                      std::uint64_t seed);

/// Nothing is wrong with `program` under `runs` schedules of each strategy.
[[nodiscard]] ::testing::AssertionResult has_no_failure(const sim::Program& program,
                                                        std::uint64_t runs);

/// An exploration of the law made twice comes to the same, run by run.
[[nodiscard]] ::testing::AssertionResult is_repeatable(const Law& law);

}  // namespace fermata::properties
