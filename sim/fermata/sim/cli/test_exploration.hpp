// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exploration of one test: which piece is next, and what the explored ones come to. Processes
// end in any order; here everything is put in the order of the runs.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/cli/piece.hpp"
#include "fermata/sim/cli/record.hpp"
#include "fermata/sim/cli/run_options.hpp"
#include "fermata/sim/cli/tally.hpp"

namespace fermata::sim::cli {

class TestExploration {
 public:
  /// `number` is the test's among all; it spreads small tests over the shards. `options` must
  /// outlive this.
  TestExploration(std::string name, std::uint64_t number, const RunOptions& options);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Explored before, by a process that was interrupted. A search that is in one piece begins anew.
  /// Returns how many runs are done.
  std::uint64_t resume(std::vector<PieceRecord> records);

  /// What is to be explored next; nothing when no more is wanted, or only once others are done.
  [[nodiscard]] std::optional<Piece> next();

  /// The process of `piece` has ended with `record`, which may be of fewer runs.
  void explored(const Piece& piece, PieceRecord record);
  /// It has died in `record`'s one run. What of `piece` is around that run is still to be explored.
  void died(const Piece& piece, PieceRecord record);
  void replayed(ReplayRecord record);
  /// The process of `piece` was ended since nobody wants its result.
  void dropped(const Piece& piece);

  /// Whether what begins at `first` is of no more interest.
  [[nodiscard]] bool unwanted(std::uint64_t first) const noexcept { return first >= cut_; }

  /// As Tally has it.
  void complete(const FailureRecord& failure) { tally_.complete(failure); }

  /// Nothing is under way and nothing left to do.
  [[nodiscard]] bool over() const;

  /// Takes in what has no gap before it any more. Without gaps, or at the end, that is everything.
  void settle(bool at_the_end);

  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  /// Also those that were not taken in yet.
  [[nodiscard]] std::uint64_t runs_so_far() const;
  [[nodiscard]] bool stable() const noexcept { return stable_; }
  /// Too many of its runs have killed their processes.
  [[nodiscard]] bool given_up() const noexcept { return crashes_ >= kCrashesMax; }

  /// Failures whose tapes nobody wants any more.
  std::vector<FailureRecord> take_superseded() { return tally_.take_superseded(); }
  /// Explored and of no interest: what it has left on disk may go.
  std::vector<PieceRecord> take_unwanted() { return std::exchange(unwanted_, {}); }
  /// Taken in since the last time: only what `tally` still needs has to be kept of it.
  std::vector<PieceRecord> take_settled() { return std::exchange(settled_, {}); }

 private:
  static constexpr unsigned kCrashesMax = 10;
  static constexpr std::uint64_t kStablePieces = 3;
  static constexpr std::uint64_t kStableRuns = 1'000;

  [[nodiscard]] bool in_one_piece() const;
  [[nodiscard]] Piece own_chunk(std::uint64_t index) const;
  [[nodiscard]] std::uint64_t first_outstanding() const;
  void finished(const Piece& piece);
  void to_do(std::uint64_t first, std::uint64_t end);
  void keep(PieceRecord record);
  void cut_at(std::uint64_t run);
  void take_in(PieceRecord record);

  std::string name_;
  std::uint64_t number_;
  const RunOptions& options_;
  Tally tally_;
  std::uint64_t next_chunk_ = 0;
  std::vector<std::uint64_t> under_way_;           // First runs.
  std::map<std::uint64_t, std::uint64_t> to_do_;   // First run to end.
  std::map<std::uint64_t, PieceRecord> explored_;  // Not taken in yet.
  std::uint64_t cut_ = kNoEnd;                     // Nothing from here on is wanted.
  unsigned crashes_ = 0;
  bool stable_ = false;
  std::vector<PieceRecord> unwanted_;
  std::vector<PieceRecord> settled_;
};

}  // namespace fermata::sim::cli
