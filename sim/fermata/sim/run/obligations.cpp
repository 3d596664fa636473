// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/obligations.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"

namespace fermata::sim::detail {
namespace {

struct Explored {
  Catalogue catalogue;
  std::uint64_t tests = 0;
  std::uint64_t runs = 0;
  bool without_some = false;  // Tests that were skipped.
};

Explored& explored() {
  static Explored all;
  return all;
}

/// Why this process has not seen enough to judge; null when it has.
const char* reason_not_to_judge(const Options& options) {
  const ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
  const int all = tests.total_test_count() - tests.disabled_test_count();
  if (tests.test_to_run_count() < all) return "some tests were left out";
  const bool one_run = options.seed && options.runs.value_or(1) == 1;
  if (one_run) return "one seed alone was run";
  if (options.first_run != 0) return "a part of the runs was made";
  if (explored().without_some) return "a test was skipped";
  return nullptr;
}

std::string lines_of(const std::vector<Claim>& claims) {
  std::string text;
  for (const Claim& claim : claims) text += "  " + claim.text() + '\n';
  return text;
}

}  // namespace

void note_explored(const Catalogue& catalogue, std::uint64_t runs) {
  explored().catalogue.add(catalogue);
  ++explored().tests;
  explored().runs += runs;
}

void note_skipped() { explored().without_some = true; }

std::string missed_by_test(const Catalogue& catalogue, std::uint64_t runs, const Options& options) {
  const bool asked = options.obligations == Obligations::Test && options.events.empty();
  if (!asked || runs < 2) return {};
  std::vector<Claim> missed = catalogue.missed();
  std::erase_if(missed, [](const Claim& claim) { return claim.counts.reached == 0; });
  if (missed.empty()) return {};
  return fmt::format("missed: in {} runs these were reached and never held:\n{}", runs,
                     lines_of(missed));
}

bool judge_obligations(const Options& options) {
  const Explored& all = explored();
  const std::size_t obligations = all.catalogue.obligations();
  const bool silent = options.obligations == Obligations::Off || !options.events.empty() ||
                      !options.confirm.empty() || !options.replay.empty();
  if (silent || all.tests == 0 || obligations == 0) return false;
  if (const char* reason = reason_not_to_judge(options)) {
    fmt::print("obligations: {}, not judged: {}\n", obligations, reason);
    return false;
  }
  const std::vector<Claim> missed = all.catalogue.missed();
  FERMATA_ASSERT(missed.size() <= obligations);
  if (missed.empty()) {
    fmt::print("obligations: all {} met in {} of {}\n", obligations, counted(all.runs, "run"),
               counted(all.tests, "test"));
    return false;
  }
  fmt::print("missed: {} of {} never held in {} of {}:\n{}", missed.size(),
             counted(obligations, "obligation"), counted(all.runs, "run"),
             counted(all.tests, "test"), lines_of(missed));
  return true;
}

}  // namespace fermata::sim::detail
