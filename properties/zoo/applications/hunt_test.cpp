// SPDX-License-Identifier: Apache-2.0

// The bugs of the programs in this folder are found by exploring, shrunk to little more than the
// smallest tape there is, and explained by the pair that decides. applications.py asks the same of
// the tool.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/run/culprit_search.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/shrinker.hpp"
#include "properties/zoo/applications/expected.hpp"

namespace fermata::properties::zoo {
namespace {

constexpr std::uint64_t kRuns = 2'000;
constexpr std::uint64_t kSeeds = 5;

sim::Program buggy(const Application& application) {
  sim::Program program;
  program.body = [body = application.body](sim::World& world) { body(world, Variant::Buggy); };
  return program;
}

/// By one strategy or the other.
std::optional<sim::FoundFailure> hunt(const sim::Program& program, std::uint64_t seed) {
  sim::ExploreOptions options;
  options.runs = kRuns;
  options.seed = seed;
  for (const char* strategy : {"random", "pct:2"}) {
    options.strategy = strategy;
    sim::ExploreResult result = sim::explore(options, program);
    if (result.found) return std::move(result.found);
  }
  return std::nullopt;
}

class Pair {
 public:
  explicit Pair(const Expected& expected)
      : expected_(expected), source_(source_of(expected.name)) {}

  /// Whether this turn of a failing run is it.
  [[nodiscard]] bool is(const sim::RunLog& run_log, std::size_t turn,
                        const sim::KeyNames& names) const {
    const sim::RunLog::Turn& it = run_log.turns().at(turn);
    if (expected_.is_decision()) {
      return has_one_of(describe(it.decision, names), expected_.against_line);
    }
    if (!it.chosen || !it.passed_over) return false;
    return (is_one(run_log, *it.chosen) && is_other(run_log, *it.passed_over)) ||
           (is_one(run_log, *it.passed_over) && is_other(run_log, *it.chosen));
  }

 private:
  using Suspended = sim::RunLog::Suspended;

  [[nodiscard]] bool is_one(const sim::RunLog& run_log, const Suspended& who) const {
    return is_at(run_log, who, expected_.coroutine, expected_.line);
  }
  [[nodiscard]] bool is_other(const sim::RunLog& run_log, const Suspended& who) const {
    return is_at(run_log, who, expected_.against, expected_.against_line);
  }
  [[nodiscard]] bool is_at(const sim::RunLog& run_log, const Suspended& who,
                           const std::string& coroutines, const std::string& line) const {
    return is_one_of(run_log.lanes()[who.lane].name, coroutines) &&
           line_of_source(static_cast<std::size_t>(who.place.line)).find(line) != std::string::npos;
  }
  [[nodiscard]] std::string line_of_source(std::size_t number) const {
    std::size_t begin = 0;
    for (std::size_t i = 1; i < number; ++i) begin = source_.find('\n', begin) + 1;
    return source_.substr(begin, source_.find('\n', begin) - begin);
  }

  const Expected& expected_;
  std::string source_;
};

/// The decisions that make steps take time, and that allow such steps at all. They can stand for
/// one decision of the table, or two.
std::size_t busy_decisions(const sim::Tape& tape) {
  const auto steps = static_cast<std::size_t>(
      std::count_if(tape.decisions.begin(), tape.decisions.end(), [&](const sim::Decision& each) {
        return describe(each, tape.names).starts_with("a step of");
      }));
  return steps + (steps > 0 ? 1 : 0);
}

/// Which of several decisions that are all needed is the one that decides is a matter of shares, so
/// that now and then another one is named than the table has.
constexpr double kNamedRight = 0.9;

TEST(Hunt, FindsShrinksAndExplains) {
  std::size_t hunts = 0;
  std::string other_pairs;
  std::size_t others = 0;
  for (const Expected& expected : read_expected()) {
    const sim::Program program = buggy(*find_application(expected.name));
    const Pair pair(expected);
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      SCOPED_TRACE(expected.name + ", seed " + std::to_string(seed));
      const auto found = hunt(program, seed);
      ASSERT_TRUE(found) << "not found in " << kRuns << " schedules";
      EXPECT_TRUE(has_one_of(to_string(found->failure.verdict), expected.verdict));

      const auto shrunk = sim::shrink(program, {}, found->tape);
      ASSERT_TRUE(shrunk);
      const sim::Tape& tape = shrunk->found.tape;
      EXPECT_LE(2 * tape.decisions.size(), 3 * (expected.minimum + busy_decisions(tape)))
          << shrunk->summary();

      ++hunts;
      const sim::Culprit culprit = sim::find_culprit(program, {}, tape);
      ASSERT_TRUE(culprit.decision);
      if (pair.is(*shrunk->found.run_log, *culprit.decision, tape.names)) continue;
      ++others;
      other_pairs += expected.name + ", seed " + std::to_string(seed) + ": " +
                     describe(tape.decisions[*culprit.decision], tape.names) + "\n";
    }
  }
  EXPECT_LE(static_cast<double>(others), (1 - kNamedRight) * static_cast<double>(hunts))
      << other_pairs;
}

}  // namespace
}  // namespace fermata::properties::zoo
