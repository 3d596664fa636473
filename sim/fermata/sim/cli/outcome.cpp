// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/text_of.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/verdict.hpp"

namespace fermata::sim::cli {
namespace {

std::string seconds(std::uint64_t nanoseconds) {
  return fmt::format("{}.{:03} s", nanoseconds / 1'000'000'000, nanoseconds / 1'000'000 % 1'000);
}

/// How many times faster than real time; nothing when that was too short to tell.
std::string ratio(std::uint64_t virtual_ns, std::chrono::milliseconds elapsed) {
  const auto real_ms = static_cast<std::uint64_t>(elapsed.count());
  if (real_ms == 0) return {};
  return fmt::format(", {} times real time", virtual_ns / 1'000'000 / real_ms);
}

/// Nothing when nobody has measured it.
std::string took(std::chrono::milliseconds elapsed) {
  if (elapsed.count() == 0) return {};
  return fmt::format(" in {}.{:03} s", elapsed.count() / 1000, elapsed.count() % 1000);
}

std::string faults_text(const Counts& counts) {
  std::string text;
  for (const auto& [kind, count] : counts.faults) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, count);
  }
  return text.empty() ? "none" : text;
}

/// A row for each strategy, the one of most runs first; nothing when it was always the same one.
std::string shares_text(const Counts& counts) {
  using Entry = std::pair<std::string, Share>;
  std::vector<Entry> all(counts.shares.begin(), counts.shares.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Entry& a, const Entry& b) { return a.second.runs > b.second.runs; });
  std::string text;
  for (const auto& [strategy, share] : all) {
    if (share.runs == 0) continue;
    text += fmt::format("    {:<18} {} of the runs, {} of them new, {}\n", strategy,
                        percent(share.runs, counts.runs), percent(share.new_runs, share.runs),
                        counted(share.failures, "failure"));
  }
  return text;
}

struct Longest {
  const TestOutcome* test;
  LongRunRecord run;
};

std::string longest_text(RunOutcomes outcomes) {
  std::vector<Longest> all;
  for (const RunOutcome& outcome : outcomes) {
    for (const TestOutcome& test : outcome.tests) {
      for (const LongRunRecord& run : test.totals.longest()) all.push_back({&test, run});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.run.steps > b.run.steps; });
  if (all.size() > TestTotals::kLongest) all.resize(TestTotals::kLongest);
  std::string text;
  for (const auto& [test, run] : all) {
    text += fmt::format("{}{} ({}, {})", text.empty() ? "" : ", ", run.seed, test->name,
                        counted(run.steps, "step"));
  }
  return text;
}

std::string obligations_text(const Obligations& obligations) {
  if (obligations.all == 0) return "none";
  const std::size_t missed = obligations.missed.size();
  if (obligations.unjudged.empty())
    return fmt::format("{}, {} of them missed", obligations.all, missed);
  const std::string some = missed == 0 ? "" : fmt::format("{} of them missed, others ", missed);
  return fmt::format("{}, {}not judged: {}", obligations.all, some, obligations.unjudged);
}

/// What all programs come to together.
struct Sums {
  Counts counts;
  std::size_t tests = 0;
  std::size_t skipped_tests = 0;
  std::uint64_t kinds = 0;
  std::uint64_t once = 0;
  std::uint64_t signatures = 0;
  std::chrono::milliseconds elapsed{};
  Obligations obligations;
};

Sums sums_of(RunOutcomes outcomes) {
  Sums sums;
  for (const RunOutcome& outcome : outcomes) {
    sums.elapsed += outcome.elapsed;
    sums.tests += outcome.tests.size();
    for (const TestOutcome& test : outcome.tests) {
      sums.counts.add(test.totals.counts());
      sums.skipped_tests += test.totals.is_skipped();
      sums.kinds += test.totals.behaviours().kinds();
      sums.once += test.totals.behaviours().once();
      sums.signatures += test.totals.failures().size();
    }
    const Obligations own = obligations_of(outcome);
    sums.obligations.all += own.all;
    sums.obligations.missed.insert(sums.obligations.missed.end(), own.missed.begin(),
                                   own.missed.end());
    if (sums.obligations.unjudged.empty()) sums.obligations.unjudged = own.unjudged;
  }
  FERMATA_ASSERT(sums.counts.skipped <= sums.counts.runs);
  return sums;
}

/// What is behind the rows: what was missed, and what makes the result doubtful.
std::string remarks_text(const Sums& sums) {
  std::string text;
  for (const std::string& missed : sums.obligations.missed) {
    text += fmt::format("missed: {}\n", missed);
  }
  if (sums.obligations.all == 0) {
    text +=
        "warning: no FERMATA_SOMETIMES or FERMATA_REACHABLE says which states the runs must "
        "reach\n";
  }
  if (sums.counts.limit_stops * 20 > sums.counts.runs) {
    text += fmt::format(
        "warning: {} of the runs were stopped by a limit, and the rest of them not seen\n",
        percent(sums.counts.limit_stops, sums.counts.runs));
  }
  return text;
}

}  // namespace

int RunOutcome::exit_code() const {
  int code = obligations_of(*this).missed.empty() ? kPass : exit_code_of("obligation");
  for (const TestOutcome& test : tests) code = heavier(code, test.totals.exit_code());
  return code;
}

int exit_code_of(RunOutcomes outcomes) {
  int code = kPass;
  for (const RunOutcome& outcome : outcomes) code = heavier(code, outcome.exit_code());
  return code;
}

std::string test_line(const TestOutcome& test) {
  const Counts& counts = test.totals.counts();
  const auto& failures = test.totals.failures();
  if (test.totals.is_skipped()) {
    return fmt::format("skip {}: {}, all skipped: {}", test.name, counted(counts.runs, "run"),
                       test.totals.skip_reason());
  }
  std::string line =
      fmt::format("{} {}: {}, {} different, next new {}", failures.empty() ? "pass" : "FAIL",
                  test.name, counted(counts.runs, "run"), test.totals.behaviours().kinds(),
                  unseen(test.totals.behaviours(), counts.runs - counts.skipped));
  if (counts.skipped > 0) line += fmt::format(", {} skipped", counts.skipped);
  if (failures.size() > 1) line += fmt::format(", {} kinds of failures", failures.size());
  const std::size_t replayed = test.totals.replays().size();
  if (replayed > 0) line += fmt::format(", {} of the corpus replayed", replayed);
  if (!test.remark.empty()) line += fmt::format(" ({})", test.remark);
  return line;
}

std::string world_line(const TestOutcome& test) {
  std::string faults = test.totals.first_world();
  while (faults.ends_with('\n')) faults.pop_back();
  for (std::size_t at = 0; (at = faults.find('\n', at)) != std::string::npos; at += 2) {
    faults.replace(at, 1, ", ");
  }
  return fmt::format("sim: world of {}, run 1: {}", test.name,
                     faults.empty() ? "without faults" : faults);
}

std::string failure_text(const TestOutcome& test) {
  std::string text;
  for (const ReplayResult& replay : test.totals.replays()) {
    if (replay.is_stale()) {
      text += fmt::format("stale: re-record {}: {}\n", replay.tape, replay.summary);
    }
  }
  for (const FailureRecord& failure : test.totals.failures()) {
    text += fmt::format("FAIL {}: {}", failure.test, failure.report);
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

std::string statistics_text(RunOutcomes outcomes) {
  FERMATA_ASSERT(!outcomes.empty());
  const Sums sums = sums_of(outcomes);
  const Counts& all = sums.counts;
  const std::uint64_t runs = std::max(all.runs, std::uint64_t{1});
  const std::uint64_t explored = all.runs - all.skipped;
  std::string text = "statistics:\n";
  const auto row = [&](const char* what, const std::string& value) {
    text += fmt::format("  {:<20} {}\n", what, value);
  };
  std::string programs;
  if (outcomes.size() > 1) programs = " of " + counted(outcomes.size(), "program");
  row("runs", fmt::format("{} of {}{}{}", all.runs, counted(sums.tests, "test"), programs,
                          took(sums.elapsed)));
  if (all.skipped > 0) {
    row("skipped", fmt::format("{}, {} in all runs", counted(all.skipped, "run"),
                               counted(sums.skipped_tests, "test")));
  }
  row("new behaviours", fmt::format("{} ({})", sums.kinds, percent(sums.kinds, explored)));
  row("next run new",
      fmt::format("{} (Good-Turing)", percent(std::min(sums.once, explored), explored)));
  row("failures", counted(all.failures, "run") + ", " + counted(sums.signatures, "signature"));
  row("steps",
      fmt::format("min {}, average {}, max {}", all.steps_min, all.steps / runs, all.steps_max));
  row("decisions", std::to_string(all.draws));
  row("stopped by a limit", percent(all.limit_stops, all.runs));
  row("virtual time", seconds(all.virtual_ns) + ratio(all.virtual_ns, sums.elapsed));
  row("strategy", outcomes.front().plan.options.strategy);
  text += shares_text(all);
  row("determinism checks", std::to_string(all.determinism_checks));
  row("faults injected", faults_text(all));
  row("obligations", obligations_text(sums.obligations));
  if (const std::string longest = longest_text(outcomes); !longest.empty())
    row("longest runs", longest);
  return text + remarks_text(sums);
}

void check_reports(const std::string& json, const std::string& junit) {
  for (const auto& [flag, path] : {std::pair("--json", json), std::pair("--junit", junit)}) {
    if (path.empty() || std::ofstream(path, std::ios::app)) continue;
    throw UsageError(
        fmt::format("{}: cannot write {}: {}; expected a file in a folder that is there", flag,
                    path, fermata::detail::errno_text(errno)));
  }
}

void write_reports(RunOutcomes outcomes, const std::string& json, const std::string& junit) {
  if (!json.empty()) write_whole_file(json, json_lines(outcomes));
  if (!junit.empty()) write_whole_file(junit, junit_xml(outcomes));
}

}  // namespace fermata::sim::cli
