// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/cli/fleet/fleet_commands.hpp"
#include "fermata/sim/cli/fleet/fleet_result.hpp"
#include "fermata/sim/cli/verdict.hpp"

namespace fermata::sim::cli {
namespace {

/// The failures of a complete plan.
std::vector<FailureRecord> failures_of(const std::string& root) {
  const FleetOutcome outcome = merged_fleet(FleetPlan::load(root), root);
  if (!outcome.is_complete()) {
    throw UsageError(fmt::format(
        "{}: {}: expected a complete plan, since what was not explored would look as if it were "
        "gone",
        root, outcome.missing()));
  }
  std::vector<FailureRecord> failures;
  for (const TestOutcome& test : outcome.run.tests) {
    const auto& found = test.totals.failures();
    failures.insert(failures.end(), found.begin(), found.end());
  }
  return failures;
}

bool has(const std::vector<FailureRecord>& failures, const FailureRecord& one) {
  return std::any_of(failures.begin(), failures.end(), [&](const FailureRecord& other) {
    return other.test == one.test && other.signature == one.signature;
  });
}

/// Prints those of `some` that `others` has, or has not. Returns them.
std::vector<FailureRecord> print(const char* word, const std::vector<FailureRecord>& some,
                                 const std::vector<FailureRecord>& others, bool in_both) {
  std::vector<FailureRecord> chosen;
  for (const FailureRecord& failure : some) {
    if (has(others, failure) != in_both) continue;
    fmt::print("{:<6} {}: {}\n", word, failure.test, failure.signature);
    chosen.push_back(failure);
  }
  return chosen;
}

}  // namespace

int fleet_compare_command(const Arguments& arguments) {
  if (arguments.operands.size() != 2) {
    throw UsageError(
        fmt::format("fleet compare: expected two plans, the old and the new one, got "
                    "{}",
                    arguments.operands.size()));
  }
  const std::vector<FailureRecord> before = failures_of(arguments.operands[0]);
  const std::vector<FailureRecord> after = failures_of(arguments.operands[1]);
  const auto fresh = print("new", after, before, false);
  const auto known = print("known", after, before, true);
  const auto gone = print("gone", before, after, false);
  fmt::print("{} new, {} known, {} gone\n", counted(fresh.size(), "failure"), known.size(),
             gone.size());
  int code = kPass;
  for (const FailureRecord& failure : fresh)
    code = heavier(code, exit_code_of(failure.failure_class));
  return code;
}

}  // namespace fermata::sim::cli
