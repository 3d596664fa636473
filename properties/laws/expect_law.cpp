// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/expect_law.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/explore.hpp"

namespace fermata::properties {
namespace {

constexpr std::uint64_t kRuns = 1'500;

sim::ExploreOptions options_for(std::string_view name, const char* strategy) {
  const sim::Options& process = sim::process_options();
  sim::ExploreOptions options;
  options.name = std::string(name);
  options.strategy = strategy;
  options.runs = process.runs.value_or(kRuns);
  options.seed = process.seed.value_or(sim::Options::kDefaultSeed);
  options.faults = process.faults_text;
  return options;
}

/// Returns whether no run has failed.
bool expect_no_failure(const sim::ExploreOptions& options, const sim::Program& program) {
  const sim::ExploreResult result = sim::explore(options, program);
  if (!result.found) return true;
  const sim::FoundFailure& found = *result.found;
  ADD_FAILURE() << found.failure.message << "\nseed " << sim::seed_text(found.tape.seed) << ", run "
                << found.run << " with " << found.tape.strategy << "\n"
                << "reproduce: fermata_suite --only " << options.name << " --strategy "
                << found.tape.strategy << " --seed " << sim::seed_text(found.tape.seed)
                << " --runs 1\n"
                << found.arguments << found.failure.explanation << found.output;
  return false;
}

}  // namespace

void expect_under_other_strategies(std::string_view name, const sim::Program& program) {
  for (const char* strategy : {"fifo", "pct:3"}) {
    if (!expect_no_failure(options_for(name, strategy), program)) return;
  }
}

void expect_run(std::string_view name, const sim::Program& program, const char* strategy,
                std::uint64_t seed) {
  sim::ExploreOptions options;
  options.name = std::string(name);
  options.strategy = strategy;
  options.seed = seed;
  options.runs = 1;
  expect_no_failure(options, program);
}

void expect_repeatable(std::string_view name, const sim::Program& program) {
  sim::ExploreOptions options = options_for(name, "random");
  options.runs = 200;
  options.check_determinism = 4;
  const sim::ExploreResult once = sim::explore(options, program);
  const sim::ExploreResult twice = sim::explore(options, program);
  EXPECT_FALSE(once.found) << once.found->failure.message << "\n"
                           << once.found->failure.explanation;
  EXPECT_EQ(once.trace_hash, twice.trace_hash);
  EXPECT_EQ(once.steps, twice.steps);
  EXPECT_EQ(once.draws, twice.draws);
}

}  // namespace fermata::properties
