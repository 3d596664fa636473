// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/test_binary.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/base/suggestion.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/filter.hpp"
#include "fermata/sim/run/fresh_process.hpp"
#include "fermata/sim/run/reproduce.hpp"

namespace fermata::sim::cli {
namespace {

constexpr std::size_t kShown = 1'500;

/// The end of what a program printed, indented; nothing when it printed nothing.
std::string last_of(std::string output) {
  if (output.empty()) return output;
  if (output.size() > kShown) output = "..." + output.substr(output.size() - kShown);
  std::istringstream lines(output);
  std::string text = "\nit printed:";
  for (std::string line; std::getline(lines, line);) text += "\n  " + line;
  return text;
}

/// What a filter that selects nothing may have meant, for the end of a message.
std::string suggested(const std::string& filter, const std::vector<ListedTest>& tests) {
  std::vector<std::string> patterns;
  for (const ListedTest& test : tests) {
    patterns.push_back(test.name.substr(0, test.name.find('.')) + ".*");
  }
  for (const ListedTest& test : tests) patterns.push_back(test.name);
  const std::vector<std::string_view> candidates(patterns.begin(), patterns.end());
  return suggestion(filter, candidates);
}

/// `filter` selects none of `tests`, but `left_out` that are disabled; they are those of `owner`.
[[noreturn]] void refuse(const std::string& owner, const std::vector<ListedTest>& tests,
                         const std::string& filter, std::size_t left_out) {
  if (left_out > 0) {
    throw UsageError(fmt::format(
        "all {} tests that '{}' selects are disabled; --disabled runs them", left_out, filter));
  }
  std::string names;
  constexpr std::size_t kNamed = 10;
  for (std::size_t i = 0; i < std::min(kNamed, tests.size()); ++i) {
    names += "\n  " + tests[i].name;
  }
  if (tests.size() > kNamed) names += fmt::format("\n  and {} more", tests.size() - kNamed);
  throw UsageError(fmt::format("'{}' selects none of the {} simulated tests of {}{}{}", filter,
                               tests.size(), owner, suggested(filter, tests), names));
}

}  // namespace

bool ListedTest::is_disabled() const {
  return name.starts_with("DISABLED_") || name.find(".DISABLED_") != std::string::npos;
}

TestBinary::TestBinary(const std::string& path, std::chrono::milliseconds limit)
    : typed_(detail::shell_quoted(path)) {
  if (path.empty()) throw UsageError("the path of the program is empty");
  std::error_code error;
  path_ = std::filesystem::absolute(path, error).lexically_normal().string();
  if (!std::filesystem::exists(path_, error)) {
    throw UsageError(fmt::format("there is no program {}; build it, or give its path", path));
  }
  if (std::filesystem::is_directory(path_, error) || ::access(path_.c_str(), X_OK) != 0) {
    throw UsageError(
        fmt::format("{} is not an executable program; expected a test program that "
                    "links fermata::sim",
                    path));
  }
  build_ = fmt::format("{:016x}", key_of(whole_file(path_)));
  list(limit);
}

void TestBinary::list(std::chrono::milliseconds limit) {
  const sim::detail::TemporaryFile answer;
  Child child(
      {.program = path_, .arguments = {}, .settings = {{"FERMATA_INTERNAL_LIST", answer.path()}}});
  const bool ended = run_to_end(child, limit);
  std::istringstream lines(whole_file(answer.path()));
  std::string line;
  bool whole = false;
  if (std::getline(lines, line) && line == "fermata-tests 1") {
    while (!whole && std::getline(lines, line)) {
      const std::size_t space = line.rfind(' ');
      whole = line.starts_with("end ");
      if (whole) {
        others_ = static_cast<std::size_t>(std::atoll(line.c_str() + space));
      } else {
        tests_.push_back({line.substr(space + 1), line.substr(0, space)});
      }
    }
  }
  if (ended && whole && child.ending().code == 0) return;
  throw UsageError(fmt::format(
      "{} does not list simulated tests: it {}; expected a test program that links fermata::sim "
      "and "
      "has a SIM_TEST{}",
      path_, ended ? child.ending().text() : fmt::format("did not end within {} ms", limit.count()),
      last_of(child.output())));
}

Selection TestBinary::select(const std::string& filter, bool disabled) const {
  Selection selection;
  for (const ListedTest& test : tests_) {
    if (!selects(filter, test.name)) continue;
    if (test.is_disabled() && !disabled) {
      ++selection.left_out;
    } else {
      selection.tests.push_back(test);
    }
  }
  return selection;
}

std::vector<ListedTest> TestBinary::selected(const std::string& filter, bool disabled) const {
  Selection selection = select(filter, disabled);
  if (selection.tests.empty()) refuse(path_, tests_, filter, selection.left_out);
  return std::move(selection.tests);
}

void refuse_selection(const std::vector<std::unique_ptr<TestBinary>>& binaries,
                      const std::string& filter, bool disabled) {
  FERMATA_ASSERT(!binaries.empty());
  std::vector<ListedTest> all;
  std::size_t left_out = 0;
  for (const auto& binary : binaries) {
    all.insert(all.end(), binary->tests().begin(), binary->tests().end());
    left_out += binary->select(filter, disabled).left_out;
  }
  refuse(binaries.size() == 1 ? binaries.front()->path() : counted(binaries.size(), "program"), all,
         filter, left_out);
}

Command TestBinary::command_for(const std::string& name) const {
  return {.program = path_, .arguments = detail::arguments_for(name), .settings = {}};
}

}  // namespace fermata::sim::cli
