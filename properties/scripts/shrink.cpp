// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/shrink.hpp"

#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/runner.hpp"
#include "properties/laws/smallest.hpp"

namespace fermata::properties::scripts {
namespace {

constexpr std::uint64_t kSchedules = 20;  // For each candidate.

}  // namespace

std::string shrunk(const Law& law, std::string_view strategy, std::uint64_t seed) {
  Script script;
  sim::Program program;
  program.body = [&](sim::World& world) { play(law, script, world); };
  sim::Runner runner(program, strategy, {});
  const auto complaint_of = [&](const Script& candidate, std::string_view rule) {
    script = candidate;
    for (std::uint64_t schedule = 0; schedule < kSchedules; ++schedule) {
      const sim::RunResult result = runner.run(sim::run_seed(seed, schedule));
      runner.learn();
      if (!result.failure) continue;
      const models::Complaint& complaint = result.failure->message;
      if (rule.empty() || rule_of(complaint) == rule) return complaint;
    }
    return models::Complaint();
  };
  const auto [smallest, complaint] =
      smallest_failing(shrinkable_script(law.operations, seed), complaint_of);
  return complaint.empty() ? std::string() : complaint + "\n" + to_text(smallest, law.operations);
}

}  // namespace fermata::properties::scripts
