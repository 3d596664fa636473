// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exploration of one test: which range is next, and what the explored ones come to. Processes
// end in any order; here everything is put in the order of the runs.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/cli/event_reader.hpp"
#include "fermata/sim/cli/run_options.hpp"
#include "fermata/sim/cli/run_range.hpp"
#include "fermata/sim/cli/test_totals.hpp"

namespace fermata::sim::cli {

class TestExploration {
 public:
  /// `number` is the test's among all; it spreads small tests over the shards. `options` must
  /// outlive this.
  TestExploration(std::string name, std::uint64_t number, const RunOptions& options);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Explored before, by a process that was interrupted. A search that is in one range begins anew.
  /// Returns how many runs are done.
  std::uint64_t resume(std::vector<RangeResult> records);

  /// The next range of runs to explore; nothing when no more are wanted, or not before others are
  /// done.
  [[nodiscard]] std::optional<RunRange> next();

  /// The process of `range` has ended with `record`, which may be of fewer runs.
  void explored(const RunRange& range, RangeResult record);
  /// It has died in `record`'s one run. What of `range` is around that run is still to be explored.
  void died(const RunRange& range, RangeResult record);
  void replayed(ReplayResult record);
  /// The process of `range` was ended since nobody wants its result.
  void dropped(const RunRange& range);

  /// Whether what begins at `first` is of no more interest.
  [[nodiscard]] bool unwanted(std::uint64_t first) const noexcept { return first >= cut_; }

  /// Completes a failure like TestTotals::complete().
  void complete(const FailureRecord& failure) { totals_.complete(failure); }

  /// Nothing is under way and nothing left to do.
  [[nodiscard]] bool over() const;

  /// Takes in what has no gap before it any more. Without gaps, or at the end, that is everything.
  void settle(bool at_the_end);

  [[nodiscard]] const TestTotals& totals() const noexcept { return totals_; }
  /// Number of runs, including those whose results were not taken in yet.
  [[nodiscard]] std::uint64_t runs_so_far() const;
  [[nodiscard]] bool is_stable() const noexcept { return stable_; }
  /// Too many of its runs have killed their processes.
  [[nodiscard]] bool given_up() const noexcept { return crashes_ >= kCrashesMax; }

  /// How long the processes of this test have lived, one after the other or side by side.
  [[nodiscard]] std::chrono::milliseconds spent() const noexcept { return spent_; }
  void spend(std::chrono::milliseconds time) noexcept { spent_ += time; }

  /// Failures whose tapes nobody wants any more.
  std::vector<FailureRecord> take_superseded() { return totals_.take_superseded(); }
  /// Explored and of no interest: what it has left on disk may go.
  std::vector<RangeResult> take_unwanted() { return std::exchange(unwanted_, {}); }
  /// Taken in since the last time: only what `totals` still needs has to be kept of it.
  std::vector<RangeResult> take_settled() { return std::exchange(settled_, {}); }

 private:
  static constexpr unsigned kCrashesMax = 10;
  static constexpr std::uint64_t kStableRanges = 3;
  static constexpr std::uint64_t kStableRuns = 1'000;

  [[nodiscard]] bool in_one_range() const;
  [[nodiscard]] RunRange own_chunk(std::uint64_t index) const;
  [[nodiscard]] std::uint64_t first_outstanding() const;
  void finished(const RunRange& range);
  void to_do(std::uint64_t first, std::uint64_t end);
  void keep(RangeResult record);
  void cut_at(std::uint64_t run);
  void take_in(RangeResult record);

  std::string name_;
  std::uint64_t number_;
  const RunOptions& options_;
  TestTotals totals_;
  std::uint64_t next_chunk_ = 0;
  std::vector<std::uint64_t> under_way_;           // First runs.
  std::map<std::uint64_t, std::uint64_t> to_do_;   // First run to end.
  std::map<std::uint64_t, RangeResult> explored_;  // Not taken in yet.
  std::uint64_t cut_ = kNoEnd;                     // Nothing from here on is wanted.
  unsigned crashes_ = 0;
  bool stable_ = false;
  std::chrono::milliseconds spent_{};
  std::vector<RangeResult> unwanted_;
  std::vector<RangeResult> settled_;
};

}  // namespace fermata::sim::cli
