// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the ranges of one test's exploration come to together. They are added in the order of their
// runs, so that the result is the same however many processes, or machines, have explored.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/cli/event_reader.hpp"

namespace fermata::sim::cli {

class TestTotals {
 public:
  /// With `keep_going` of each signature the failure of fewest steps is kept, else only the first
  /// failure there is; what comes after it does not count.
  explicit TestTotals(bool keep_going = false) : keep_going_(keep_going) {}

  /// REQUIRES: it comes after all that were added before.
  void add(RangeResult record);
  /// A tape of the corpus.
  void add(ReplayResult record);

  /// More has been found out about the failure of this signature.
  void complete(const FailureRecord& failure);

  /// Nothing more is wanted: the first failure has been found.
  [[nodiscard]] bool is_closed() const noexcept { return !keep_going_ && !failures_.empty(); }

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  [[nodiscard]] const DistinctRuns& behaviours() const noexcept { return behaviours_; }
  [[nodiscard]] const std::vector<FailureRecord>& failures() const noexcept { return failures_; }
  [[nodiscard]] const std::vector<ReplayResult>& replays() const noexcept { return replays_; }
  [[nodiscard]] const Catalogue& assertions() const noexcept { return assertions_; }
  /// The faults of its first run, a line each.
  [[nodiscard]] const std::string& first_world() const noexcept { return first_world_; }
  /// Whether all of its runs were skipped, and none failed.
  [[nodiscard]] bool is_skipped() const noexcept {
    return counts_.runs > 0 && counts_.skipped == counts_.runs && failures_.empty();
  }
  /// Why the first of its skipped runs was; empty when there is none.
  [[nodiscard]] const std::string& skip_reason() const noexcept { return skip_reason_; }
  /// What a search that tries one schedule after another has covered: "all 24 schedules".
  [[nodiscard]] const std::string& coverage() const noexcept { return coverage_; }
  /// The longest runs, of which this many are reported.
  static constexpr std::size_t kLongest = 3;
  [[nodiscard]] const std::vector<LongRunRecord>& longest() const noexcept { return longest_; }
  /// Equal for explorations that were the same.
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return trace_hash_; }
  /// Failures that others have taken the place of, since the last time.
  std::vector<FailureRecord> take_superseded() { return std::exchange(superseded_, {}); }

  /// How many of the last ranges in a row had fewer new behaviours than `parts_per_million` of
  /// their runs.
  [[nodiscard]] std::uint64_t stable_ranges() const noexcept { return stable_ranges_; }
  void watch_stability(std::uint64_t parts_per_million) noexcept {
    stable_ppm_ = parts_per_million;
  }

  /// 0 when all is well.
  [[nodiscard]] int exit_code() const noexcept;

 private:
  void keep(FailureRecord failure);
  void note_stability(std::uint64_t new_kinds, std::uint64_t runs) noexcept;

  bool keep_going_;
  Counts counts_;
  DistinctRuns behaviours_;
  Catalogue assertions_;
  std::string coverage_;
  std::string first_world_;
  std::string skip_reason_;
  std::vector<FailureRecord> failures_;
  std::vector<FailureRecord> superseded_;
  std::vector<ReplayResult> replays_;
  std::vector<LongRunRecord> longest_;
  std::uint64_t trace_hash_ = 0;
  std::uint64_t last_first_run_ = 0;  // Of the record that was added last.
  std::uint64_t stable_ppm_ = 0;
  std::uint64_t stable_ranges_ = 0;
};

/// `part` of `whole` in percent with one decimal, rounded: "3.1 %". Integers only.
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

/// The probability that the next run shows a behaviour not seen before, by Good and Turing: the
/// share of the runs whose behaviour was seen once.
[[nodiscard]] std::string unseen(const DistinctRuns& behaviours, std::uint64_t runs);

}  // namespace fermata::sim::cli
