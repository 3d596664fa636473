// SPDX-License-Identifier: Apache-2.0

// Whether what expected.tsv says is so: each buggy program passes with every tape of fewer
// decisions than its minimum, the calm one first, and fails with one of as many; and the lines of
// its pair are there.

#include "properties/zoo/applications/expected.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "properties/zoo/applications/search.hpp"

namespace fermata::properties::zoo {
namespace {

std::string text_of(const std::vector<Deviation>& tape) {
  std::string text;
  for (const Deviation& each : tape) {
    text += " draw " + std::to_string(each.draw) + " is " + std::to_string(each.answer);
  }
  return text;
}

/// The smallest tape of UnevenRace, which is too long to be found by trying: behind the
/// question for a fault of the clock, the first pick, and the question whether steps take time, the
/// user is passed over again and again.
std::vector<Deviation> pass_over(std::size_t times) {
  constexpr std::size_t kSecondPick = 3;
  std::vector<Deviation> tape;
  for (std::size_t i = 0; i < times; ++i) tape.push_back({kSecondPick + i, 1});
  return tape;
}

TEST(Expected, KnowsEachProgram) {
  std::vector<std::string> names;
  for (const Expected& expected : read_expected()) names.push_back(expected.name);
  std::vector<std::string> programs;
  for (const Application& application : applications()) programs.emplace_back(application.name);
  EXPECT_EQ(names, programs);
}

TEST(Expected, LinesOfPairsAreThere) {
  for (const Expected& expected : read_expected()) {
    const std::string source = source_of(expected.name);
    std::vector<std::string> lines = {expected.line};
    if (!expected.is_decision()) lines.push_back(expected.against_line);
    for (const std::string& line : lines) {
      EXPECT_NE(source.find(line), std::string::npos) << expected.name << ": " << line;
    }
  }
}

TEST(Expected, NoSmallerTapeFails) {
  constexpr std::size_t kTried = 3;
  for (const Expected& expected : read_expected()) {
    const Application* application = find_application(expected.name);
    ASSERT_NE(application, nullptr) << expected.name;
    const SearchResult all = try_all_tapes(*application, std::min(expected.minimum, kTried) - 1);
    EXPECT_FALSE(all.failure) << expected.name << " fails with" << text_of(all.tape) << ": "
                              << all.failure->message;
  }
}

TEST(Expected, TapeOfTheMinimumFails) {
  for (const Expected& expected : read_expected()) {
    const Application* application = find_application(expected.name);
    ASSERT_NE(application, nullptr) << expected.name;
    const bool searched = expected.minimum < 10;
    const std::optional<sim::Failure> failure =
        searched ? try_all_tapes(*application, expected.minimum).failure
                 : run_buggy(*application, pass_over(expected.minimum));
    ASSERT_TRUE(failure) << expected.name;
    EXPECT_TRUE(has_one_of(to_string(failure->verdict), expected.verdict))
        << expected.name << ": " << to_string(failure->verdict);
    if (!searched) {
      EXPECT_FALSE(run_buggy(*application, pass_over(expected.minimum - 1))) << expected.name;
    }
  }
}

}  // namespace
}  // namespace fermata::properties::zoo
