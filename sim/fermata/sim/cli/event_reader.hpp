// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of a range of an exploration once it has been explored: read from the file that the
// process has left (fermata/sim/run/event_writer.hpp).

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/record/catalogue.hpp"
#include "fermata/sim/run/distinct_runs.hpp"

namespace fermata::sim::cli {

/// Before what a process has printed that has died: the end of a report.
inline constexpr std::string_view kOutputOfProcess = "output of the process:\n";

struct FailureRecord {
  std::string test;
  std::string failure_class;
  std::string message;
  std::string signature;
  std::uint64_t run = 0;
  /// The run from which on an exploration has to begin to come to it.
  std::uint64_t first_run = 0;
  std::string seed;
  std::string strategy;
  std::uint64_t steps = 0;
  std::string reproduce;
  std::string tape;
  std::string histories;
  std::string shrunk;  // In words: how many decisions are left.
  std::string shrunk_tape;
  std::string decides;
  /// The report for people.
  std::string report;
};

/// The JSON of a failure, as in a file of events and in the result.
[[nodiscard]] nlohmann::ordered_json json_of(const FailureRecord& failure);
/// JSON too, as the line of a file.
[[nodiscard]] std::string line_of(const FailureRecord& failure);

struct LongRunRecord {
  std::uint64_t run = 0;
  std::string seed;
  std::uint64_t steps = 0;
};

/// The runs that one strategy of several had, and what they found.
struct Share {
  std::uint64_t runs = 0;
  std::uint64_t new_runs = 0;  // In its chunk.
  std::uint64_t failures = 0;

  void add(const Share& other) noexcept;
};

/// Sums over runs.
struct Counts {
  std::uint64_t runs = 0;
  std::uint64_t skipped = 0;  // Among the runs.
  std::uint64_t failures = 0;
  std::uint64_t limit_stops = 0;
  std::uint64_t steps = 0;
  std::uint64_t steps_min = 0;
  std::uint64_t steps_max = 0;
  std::uint64_t draws = 0;
  std::uint64_t virtual_ns = 0;
  std::uint64_t determinism_checks = 0;
  std::map<std::string, std::uint64_t> faults;
  std::map<std::string, Share> shares;  // By strategy.

  void add(const Counts& other);
};

struct RangeResult {
  std::uint64_t first_run = 0;
  Counts counts;
  std::uint64_t trace_hash = 0;
  std::vector<LongRunRecord> longest;
  std::vector<FailureRecord> failures;
  DistinctRuns behaviours;
  Catalogue assertions;
  /// What a search that tries one schedule after another has covered; otherwise empty.
  std::string coverage;
  /// The faults of its first run, a line each.
  std::string first_world;
  /// Why the first of its skipped runs was; empty when there is none.
  std::string skip_reason;

  [[nodiscard]] std::uint64_t end() const noexcept { return first_run + counts.runs; }
};

/// A tape of the corpus, replayed.
struct ReplayResult {
  std::string tape;
  std::string summary;
  std::uint64_t matched = 0;
  std::uint64_t decisions = 0;
  std::vector<FailureRecord> failures;

  /// Too little of the tape was applied for its result to mean anything.
  [[nodiscard]] bool is_stale() const noexcept { return matched * 100 < decisions * 60; }
};

/// The events that a process has reported so far; a missing or truncated end is accepted.
struct ReportedEvents {
  std::optional<RangeResult> explored;
  std::optional<ReplayResult> replayed;
  std::vector<FailureRecord> failures;
  std::string error;
};

/// What a process has left: its events, and beside them the behaviours that it saw.
struct EventFiles {
  std::string events;
  std::string behaviours;
};

[[nodiscard]] ReportedEvents parse_events(const EventFiles& files);
/// The files of inputs that began with run 0, as if they had begun with the run `first`.
[[nodiscard]] EventFiles renumbered(EventFiles files, std::uint64_t first);
[[nodiscard]] ReportedEvents read_events(const std::string& path);
/// The files as they are; empty where there is none.
[[nodiscard]] EventFiles event_files(const std::string& path);

/// The line that ends a range, when no more is known of it than its numbers of runs and failures.
[[nodiscard]] std::string explored_line(const std::string& test, const RangeResult& record);

/// Writes what read_events() takes for a range that ended with `failure`. Throws InputOutputError.
void write_crash(const std::string& path, const RangeResult& record);

/// Adds a failure to the events in `path`. Throws InputOutputError.
void append_failure(const std::string& path, const FailureRecord& failure);

/// Writes the trace hashes of the range in `path` anew: only what is still needed when `level` is
/// what is kept altogether.
void thin_out(const std::string& path, const RangeResult& record, unsigned level);

}  // namespace fermata::sim::cli
