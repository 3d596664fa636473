// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "fermata/sim/cli/outcome.hpp"

namespace fermata::sim::cli {
namespace {

std::string asked_for(const RunOptions& options) {
  const auto found =
      std::find_if(options.handed_on.begin(), options.handed_on.end(),
                   [](const auto& one) { return one.first == "FERMATA_OBLIGATIONS"; });
  return found == options.handed_on.end() ? "program" : found->second;
}

/// Why obligations are not judged, with the rules of a test program run by itself
/// (fermata/sim/run/obligations.hpp).
std::string reason_not_to_judge(const RunOutcome& outcome) {
  const RunOptions& options = outcome.plan.options;
  const auto failed = [](const TestOutcome& test) { return !test.totals.failures().empty(); };
  const auto skipped = [](const TestOutcome& test) { return test.totals.is_skipped(); };
  if (outcome.interrupted) return "it was interrupted";
  if (asked_for(options) == "off") return "switched off (--obligations)";
  if (options.shard.count > 1) return "this is a shard; `fermata merge` judges";
  if (!outcome.plan.whole_program) return "some tests were left out";
  if (options.runs == 1) return "one seed alone was run";
  if (std::any_of(outcome.tests.begin(), outcome.tests.end(), failed)) return "a test has failed";
  if (std::any_of(outcome.tests.begin(), outcome.tests.end(), skipped)) return "a test was skipped";
  return {};
}

}  // namespace

Obligations obligations_of(const RunOutcome& outcome) {
  Obligations result;
  Catalogue together;
  for (const TestOutcome& test : outcome.tests) {
    together.add(test.totals.assertions());
    if (asked_for(outcome.plan.options) != "test" || test.totals.counts().runs < 2) continue;
    for (const Claim& claim : test.totals.assertions().missed()) {
      const bool reached = claim.counts.reached > 0;
      if (reached) result.missed.push_back(fmt::format("by {}: {}", test.name, claim.text()));
    }
  }
  result.all = together.obligations();
  result.unjudged = reason_not_to_judge(outcome);
  if (!result.unjudged.empty()) {
    result.missed.clear();
    return result;
  }
  for (const Claim& claim : together.missed()) result.missed.push_back(claim.text());
  return result;
}

}  // namespace fermata::sim::cli
