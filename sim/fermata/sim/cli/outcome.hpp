// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an exploration came to, however it was made: by this process, or by several shards.

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "fermata/sim/cli/plan.hpp"
#include "fermata/sim/cli/test_totals.hpp"

namespace fermata::sim::cli {

struct TestOutcome {
  std::string name;
  TestTotals totals;
  /// Why it ended before all runs were explored; empty when it did not.
  std::string remark;
  /// How long its processes have lived in real time; 0 when nobody has measured it.
  std::chrono::milliseconds spent{};
};

/// The outcome of one program.
struct RunOutcome {
  Plan plan;
  std::vector<TestOutcome> tests;
  std::chrono::milliseconds elapsed{};
  bool interrupted = false;
  /// The name of the program among several; empty when it is alone.
  std::string name = {};

  /// The exit code of the most severe verdict of all tests, or that of a missed obligation.
  [[nodiscard]] int exit_code() const;
};

/// The outcomes of the programs of one command, in order.
using RunOutcomes = std::span<const RunOutcome>;

/// The exit code of the most severe verdict of all.
[[nodiscard]] int exit_code_of(RunOutcomes outcomes);

/// The outcome of obligations, which some run has to meet: FERMATA_SOMETIMES and FERMATA_REACHABLE.
struct Obligations {
  std::size_t all = 0;
  /// The obligations that no run has met, in words.
  std::vector<std::string> missed;
  /// Why nobody can say so; empty: judged.
  std::string unjudged;
};

/// Over all tests of a program together, as FERMATA_OBLIGATIONS asks for it.
[[nodiscard]] Obligations obligations_of(const RunOutcome& outcome);

/// "Suite.Name: 1000 runs, 345 different, next new 3.1 %".
[[nodiscard]] std::string test_line(const TestOutcome& test);

/// The failures of a test, in full.
[[nodiscard]] std::string failure_text(const TestOutcome& test);

/// "sim: world of Suite.Name, run 1: delay 1/8 struck 3 times, ...".
[[nodiscard]] std::string world_line(const TestOutcome& test);

/// All tests together, with what makes the result doubtful.
[[nodiscard]] std::string statistics_text(RunOutcomes outcomes);

/// JSON lines, as docs/guide/ci.md has them.
[[nodiscard]] std::string json_lines(RunOutcomes outcomes);

/// The outcome as JUnit XML, as its consumers read it.
[[nodiscard]] std::string junit_xml(RunOutcomes outcomes);

/// Throws UsageError when a file that is wanted cannot be written: better before an exploration
/// than after it. An empty path is none.
void check_reports(const std::string& json, const std::string& junit);

/// Writes the files that are wanted; an empty path is none. Throws InputOutputError.
void write_reports(RunOutcomes outcomes, const std::string& json, const std::string& junit);

}  // namespace fermata::sim::cli
