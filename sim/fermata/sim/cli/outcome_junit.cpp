// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/base/json.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/cli/outcome.hpp"

namespace fermata::sim::cli {
namespace {

/// XML 1.0 has no way to write most control characters.
bool allowed(char letter) {
  return static_cast<unsigned char>(letter) >= 0x20 || letter == '\n' || letter == '\t';
}

std::string escaped(std::string_view raw) {
  const std::string text = as_utf8(raw);
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        out += allowed(letter) ? letter : '?';
    }
  }
  return out;
}

bool is_error(const FailureRecord& failure) {
  return failure.failure_class == "crash" || failure.failure_class == "hang";
}

std::string case_text(const TestOutcome& test) {
  const std::size_t dot = test.name.find('.');
  const Counts& counts = test.totals.counts();
  std::string text =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\">\n      <properties>\n",
                  escaped(test.name.substr(0, dot)), escaped(test.name.substr(dot + 1)));
  const auto property = [&](const char* name, const std::string& value) {
    text += fmt::format("        <property name=\"{}\" value=\"{}\"/>\n", name, escaped(value));
  };
  property("runs", std::to_string(counts.runs));
  property("behaviours", std::to_string(test.totals.behaviours().kinds()));
  property("steps", std::to_string(counts.steps));
  property("trace_hash", seed_text(test.totals.trace_hash()));
  text += "      </properties>\n";
  for (const FailureRecord& failure : test.totals.failures()) {
    const char* element = is_error(failure) ? "error" : "failure";
    text += fmt::format("      <{} type=\"{}\" message=\"{}\">{}</{}>\n", element,
                        escaped(failure.failure_class), escaped(failure.message),
                        escaped(failure.report), element);
  }
  return text + "    </testcase>\n";
}

std::string numbers(const std::vector<const TestOutcome*>& tests) {
  std::size_t failed = 0;
  std::size_t errors = 0;
  for (const TestOutcome* test : tests) {
    const auto& failures = test->totals.failures();
    if (failures.empty()) continue;
    const bool error = std::any_of(failures.begin(), failures.end(), is_error);
    (error ? errors : failed) += 1;
  }
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", tests.size(), failed, errors);
}

}  // namespace

std::string junit_xml(const RunOutcome& outcome) {
  std::map<std::string, std::vector<const TestOutcome*>> suites;
  std::vector<const TestOutcome*> all;
  for (const TestOutcome& test : outcome.tests) {
    suites[test.name.substr(0, test.name.find('.'))].push_back(&test);
    all.push_back(&test);
  }
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fermata\" {} "
      "time=\"{}.{:03}\">\n",
      numbers(all), outcome.elapsed.count() / 1000, outcome.elapsed.count() % 1000);
  for (const auto& [suite, tests] : suites) {
    text += fmt::format("  <testsuite name=\"{}\" {}>\n", escaped(suite), numbers(tests));
    for (const TestOutcome* test : tests) text += case_text(*test);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace fermata::sim::cli
