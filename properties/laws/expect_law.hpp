// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "fermata/sim/run/runner.hpp"

namespace fermata::properties {

/// Explores `program` with the strategies that SIM_PROPERTY does not take by itself, FERMATA_RUNS
/// schedules each; the running GoogleTest test fails with the first finding and how to see it
/// again.
void expect_under_other_strategies(std::string_view name, const sim::Program& program);

/// One run of it, as with `fermata_suite --only NAME --strategy STRATEGY --seed SEED --runs 1`.
void expect_run(std::string_view name, const sim::Program& program, const char* strategy,
                std::uint64_t seed);

/// The exploration made twice comes to the same, run by run.
void expect_repeatable(std::string_view name, const sim::Program& program);

}  // namespace fermata::properties
