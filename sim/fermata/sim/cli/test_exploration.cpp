// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/test_exploration.hpp"

#include <algorithm>
#include <utility>

namespace fermata::sim::cli {

TestExploration::TestExploration(std::string name, std::uint64_t number, const RunOptions& options)
    : name_(std::move(name)), number_(number), options_(options), tally_(options.keep_going) {
  tally_.watch_stability(options.until_stable_ppm);
}

// Such a search knows where it has been: it cannot begin in the middle.
bool TestExploration::in_one_piece() const { return options_.strategy.starts_with("dfs"); }

Piece TestExploration::own_chunk(std::uint64_t index) const {
  if (in_one_piece()) return index == 0 ? Piece{0, options_.runs} : Piece{options_.runs, 0};
  return chunk(index, options_.runs);
}

std::uint64_t TestExploration::resume(std::vector<PieceRecord> records) {
  if (in_one_piece()) return 0;
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.first_run < b.first_run; });
  const std::uint64_t end = records.empty() ? 0 : records.back().end();
  for (; own_chunk(next_chunk_).runs > 0 && own_chunk(next_chunk_).first < end; ++next_chunk_) {
    const Piece piece = own_chunk(next_chunk_);
    if (!options_.shard.has(next_chunk_ + number_)) continue;
    std::uint64_t gap = piece.first;
    for (const PieceRecord& record : records) {
      if (record.end() <= gap || record.first_run >= piece.end()) continue;
      to_do(gap, record.first_run);
      gap = record.end();
    }
    to_do(gap, piece.end());
  }
  for (PieceRecord& record : records) keep(std::move(record));
  return runs_so_far();
}

std::optional<Piece> TestExploration::next() {
  if (given_up()) return std::nullopt;
  if (!to_do_.empty()) {
    const auto [first, end] = *to_do_.begin();
    to_do_.erase(to_do_.begin());
    under_way_.push_back(first);
    return Piece{first, end - first};
  }
  while (own_chunk(next_chunk_).runs > 0) {
    const Piece piece = own_chunk(next_chunk_);
    if (unwanted(piece.first)) break;
    const bool own = options_.shard.has(next_chunk_ + number_);
    ++next_chunk_;
    if (!own) continue;
    under_way_.push_back(piece.first);
    return piece;
  }
  return std::nullopt;
}

void TestExploration::explored(const Piece& piece, PieceRecord record) {
  finished(piece);
  keep(std::move(record));
  settle(false);
}

void TestExploration::died(const Piece& piece, PieceRecord record) {
  finished(piece);
  ++crashes_;
  const std::uint64_t run = record.first_run;
  to_do(piece.first, run);
  if (options_.keep_going && !in_one_piece()) to_do(run + 1, piece.end());
  keep(std::move(record));
  settle(false);
}

void TestExploration::replayed(ReplayRecord record) {
  tally_.add(std::move(record));
  if (tally_.closed()) cut_at(0);
}

void TestExploration::dropped(const Piece& piece) { finished(piece); }

void TestExploration::finished(const Piece& piece) { std::erase(under_way_, piece.first); }

void TestExploration::to_do(std::uint64_t first, std::uint64_t end) {
  if (first < end && !unwanted(first)) to_do_[first] = end;
}

void TestExploration::keep(PieceRecord record) {
  if (unwanted(record.first_run)) {
    unwanted_.push_back(std::move(record));
    return;
  }
  const std::uint64_t end = record.end();
  const bool last = !record.failures.empty() && !options_.keep_going;
  explored_.insert_or_assign(record.first_run, std::move(record));
  if (last) cut_at(end);
}

void TestExploration::cut_at(std::uint64_t run) {
  cut_ = std::min(cut_, run);
  to_do_.erase(to_do_.lower_bound(cut_), to_do_.end());
  for (auto late = explored_.lower_bound(cut_); late != explored_.end();) {
    unwanted_.push_back(std::move(late->second));
    late = explored_.erase(late);
  }
}

std::uint64_t TestExploration::first_outstanding() const {
  std::uint64_t first = to_do_.empty() ? kNoEnd : to_do_.begin()->first;
  for (const std::uint64_t other : under_way_) first = std::min(first, other);
  return first;
}

void TestExploration::settle(bool at_the_end) {
  while (!explored_.empty()) {
    auto next = explored_.begin();
    if (!at_the_end && next->first > first_outstanding()) return;
    PieceRecord record = std::move(next->second);
    explored_.erase(next);
    take_in(std::move(record));
  }
}

void TestExploration::take_in(PieceRecord record) {
  const std::uint64_t end = record.end();
  settled_.push_back(record);
  tally_.add(std::move(record));
  if (options_.until_stable_ppm == 0 || tally_.counts().runs < kStableRuns) return;
  if (tally_.stable_pieces() < kStablePieces) return;
  stable_ = true;
  cut_at(end);
}

std::uint64_t TestExploration::runs_so_far() const {
  std::uint64_t runs = tally_.counts().runs;
  for (const auto& [first, record] : explored_) runs += record.counts.runs;
  return runs;
}

bool TestExploration::over() const {
  if (!under_way_.empty() || !to_do_.empty()) return false;
  if (given_up()) return true;
  const Piece piece = own_chunk(next_chunk_);
  return piece.runs == 0 || unwanted(piece.first);
}

}  // namespace fermata::sim::cli
