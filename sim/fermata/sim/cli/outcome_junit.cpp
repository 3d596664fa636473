// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/cli/escaped.hpp"
#include "fermata/sim/cli/outcome.hpp"

namespace fermata::sim::cli {
namespace {

bool is_error(const FailureRecord& failure) {
  return failure.failure_class == "crash" || failure.failure_class == "hang";
}

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{}.{:03}", time.count() / 1000, time.count() % 1000);
}

/// A `testsuite` with its tests.
struct Suite {
  std::string name;
  std::string class_prefix;  // Tells suites of several programs apart.
  std::vector<const TestOutcome*> tests;
};

/// The suites of GoogleTest; of several programs one suite for each.
std::vector<Suite> suites_of(RunOutcomes outcomes) {
  std::vector<Suite> suites;
  for (const RunOutcome& outcome : outcomes) {
    std::map<std::string, std::vector<const TestOutcome*>> own;
    for (const TestOutcome& test : outcome.tests) {
      const std::string suite = test.name.substr(0, test.name.find('.'));
      own[outcome.name.empty() ? suite : outcome.name].push_back(&test);
    }
    for (auto& [name, tests] : own) {
      suites.push_back({.name = name,
                        .class_prefix = outcome.name.empty() ? "" : outcome.name + '.',
                        .tests = std::move(tests)});
    }
  }
  return suites;
}

std::string case_text(const TestOutcome& test, const Suite& suite) {
  const std::size_t dot = test.name.find('.');
  const Counts& counts = test.totals.counts();
  std::string text =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{}\">\n      <properties>\n",
                  escaped(suite.class_prefix + test.name.substr(0, dot)),
                  escaped(test.name.substr(dot + 1)), seconds_text(test.spent));
  const auto property = [&](const char* name, const std::string& value) {
    text += fmt::format("        <property name=\"{}\" value=\"{}\"/>\n", name, escaped(value));
  };
  property("runs", std::to_string(counts.runs));
  if (counts.skipped > 0) property("skipped_runs", std::to_string(counts.skipped));
  property("behaviours", std::to_string(test.totals.behaviours().kinds()));
  property("steps", std::to_string(counts.steps));
  property("trace_hash", seed_text(test.totals.trace_hash()));
  text += "      </properties>\n";
  if (test.totals.is_skipped()) {
    text += fmt::format("      <skipped message=\"{}\"/>\n", escaped(test.totals.skip_reason()));
  }
  for (const FailureRecord& failure : test.totals.failures()) {
    const char* element = is_error(failure) ? "error" : "failure";
    text += fmt::format("      <{} type=\"{}\" message=\"{}\">{}</{}>\n", element,
                        escaped(failure.failure_class), escaped(failure.message),
                        escaped(failure.report), element);
  }
  return text + "    </testcase>\n";
}

/// The attributes that count `tests`; their time is that of all their processes.
std::string numbers(const std::vector<const TestOutcome*>& tests,
                    std::chrono::milliseconds elapsed = {}) {
  std::size_t failed = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  std::chrono::milliseconds spent{};
  for (const TestOutcome* test : tests) {
    spent += test->spent;
    skipped += test->totals.is_skipped();
    const auto& failures = test->totals.failures();
    if (failures.empty()) continue;
    const bool error = std::any_of(failures.begin(), failures.end(), is_error);
    (error ? errors : failed) += 1;
  }
  FERMATA_ASSERT(failed + errors + skipped <= tests.size());
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"",
                     tests.size(), failed, errors, skipped,
                     seconds_text(elapsed.count() > 0 ? elapsed : spent));
}

}  // namespace

std::string junit_xml(RunOutcomes outcomes) {
  std::vector<const TestOutcome*> all;
  std::chrono::milliseconds elapsed{};
  for (const RunOutcome& outcome : outcomes) {
    elapsed += outcome.elapsed;
    for (const TestOutcome& test : outcome.tests) all.push_back(&test);
  }
  std::string text =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fermata\" {}>\n",
                  numbers(all, elapsed));
  for (const Suite& suite : suites_of(outcomes)) {
    text +=
        fmt::format("  <testsuite name=\"{}\" {}>\n", escaped(suite.name), numbers(suite.tests));
    for (const TestOutcome* test : suite.tests) text += case_text(*test, suite);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace fermata::sim::cli
