// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/holds.hpp"

#include <string>
#include <string_view>

#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/explore.hpp"

namespace fermata::properties {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

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

/// How to see it again; nothing for what the suite does not have.
std::string reproduction(const std::string& law, const sim::FoundFailure& found) {
  if (find_law(law) == nullptr) return {};
  return "reproduce: fermata_suite --only " + law + " --strategy " + found.tape.strategy +
         " --seed " + sim::seed_text(found.tape.seed) + " --runs 1\n";
}

AssertionResult has_no_failure(const sim::ExploreOptions& options, const sim::Program& program) {
  const sim::ExploreResult result = sim::explore(options, program);
  if (!result.found) return AssertionSuccess();
  const sim::FoundFailure& found = *result.found;
  return AssertionFailure() << found.failure.message << "\nseed " << sim::seed_text(found.tape.seed)
                            << ", run " << found.run << " with " << found.tape.strategy << "\n"
                            << reproduction(options.name, found) << found.arguments
                            << found.failure.explanation << found.output;
}

}  // namespace

AssertionResult holds_under_other_strategies(const Law& law) {
  AssertionResult result = AssertionSuccess();
  for (const char* strategy : {"fifo", "pct:3"}) {
    if (result) result = has_no_failure(options_for(law.name, strategy), exploration_of(law));
  }
  return result;
}

AssertionResult holds_in_run(const Law& law, const char* strategy, std::uint64_t seed) {
  sim::ExploreOptions options;
  options.name = std::string(law.name);
  options.strategy = strategy;
  options.seed = seed;
  options.runs = 1;
  return has_no_failure(options, exploration_of(law));
}

AssertionResult has_no_failure(const sim::Program& program, std::uint64_t runs) {
  AssertionResult result = AssertionSuccess();
  for (const char* strategy : {"fifo", "random", "pct:3"}) {
    sim::ExploreOptions options;
    options.strategy = strategy;
    options.seed = 1;
    options.runs = runs;
    if (result) result = has_no_failure(options, program);
  }
  return result;
}

AssertionResult is_repeatable(const Law& law) {
  sim::ExploreOptions options = options_for(law.name, "random");
  options.runs = 200;
  options.check_determinism = 4;
  options.second_lives = true;
  const sim::Program program = exploration_of(law);
  const sim::ExploreResult once = sim::explore(options, program);
  options.check_determinism = 0;
  const sim::ExploreResult twice = sim::explore(options, program);
  if (once.found) {
    return AssertionFailure() << once.found->failure.message << "\n"
                              << once.found->failure.explanation;
  }
  if (once.trace_hash == twice.trace_hash && once.steps == twice.steps &&
      once.draws == twice.draws) {
    return AssertionSuccess();
  }
  return AssertionFailure() << law.name << ": trace hash " << once.trace_hash << " and "
                            << twice.trace_hash << ", steps " << once.steps << " and "
                            << twice.steps << ", draws " << once.draws << " and " << twice.draws;
}

}  // namespace fermata::properties
