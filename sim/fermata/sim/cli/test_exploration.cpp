// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/test_exploration.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim::cli {

TestExploration::TestExploration(std::string name, std::uint64_t number, const RunOptions& options)
    : name_(std::move(name)), number_(number), options_(options), totals_(options.keep_going) {
  totals_.watch_stability(options.until_stable_ppm);
}

// Such a search knows where it has been: it cannot begin in the middle.
bool TestExploration::in_one_range() const { return options_.strategy.starts_with("dfs"); }

RunRange TestExploration::own_chunk(std::uint64_t index) const {
  if (in_one_range()) return index == 0 ? RunRange{0, options_.runs} : RunRange{options_.runs, 0};
  return chunk(index, options_.runs);
}

std::uint64_t TestExploration::resume(std::vector<RangeResult> records) {
  if (in_one_range()) return 0;
  FERMATA_ASSERT(under_way_.empty());
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.first_run < b.first_run; });
  const std::uint64_t end = records.empty() ? 0 : records.back().end();
  for (; own_chunk(next_chunk_).runs > 0 && own_chunk(next_chunk_).first < end; ++next_chunk_) {
    const RunRange range = own_chunk(next_chunk_);
    if (!options_.shard.has(next_chunk_ + number_)) continue;
    std::uint64_t gap = range.first;
    for (const RangeResult& record : records) {
      if (record.end() <= gap || record.first_run >= range.end()) continue;
      to_do(gap, record.first_run);
      gap = record.end();
    }
    to_do(gap, range.end());
  }
  for (RangeResult& record : records) keep(std::move(record));
  return runs_so_far();
}

std::optional<RunRange> TestExploration::next() {
  if (given_up()) return std::nullopt;
  if (!to_do_.empty()) {
    const auto [first, end] = *to_do_.begin();
    FERMATA_ASSERT(first < end);
    to_do_.erase(to_do_.begin());
    under_way_.push_back(first);
    return RunRange{first, end - first};
  }
  while (own_chunk(next_chunk_).runs > 0) {
    const RunRange range = own_chunk(next_chunk_);
    if (unwanted(range.first)) break;
    const bool own = options_.shard.has(next_chunk_ + number_);
    ++next_chunk_;
    if (!own) continue;
    under_way_.push_back(range.first);
    return range;
  }
  return std::nullopt;
}

void TestExploration::explored(const RunRange& range, RangeResult record) {
  finished(range);
  keep(std::move(record));
  settle(false);
}

void TestExploration::died(const RunRange& range, RangeResult record) {
  finished(range);
  ++crashes_;
  const std::uint64_t run = record.first_run;
  FERMATA_ASSERT(run >= range.first);
  FERMATA_ASSERT(run < range.end());
  to_do(range.first, run);
  if (options_.keep_going && !in_one_range()) to_do(run + 1, range.end());
  keep(std::move(record));
  settle(false);
}

void TestExploration::replayed(ReplayResult record) {
  FERMATA_ASSERT(!record.tape.empty());
  totals_.add(std::move(record));
  if (totals_.is_closed()) cut_at(0);
}

void TestExploration::dropped(const RunRange& range) { finished(range); }

void TestExploration::finished(const RunRange& range) {
  const auto gone = std::erase(under_way_, range.first);
  FERMATA_ASSERT(gone == 1);
}

void TestExploration::to_do(std::uint64_t first, std::uint64_t end) {
  if (first < end && !unwanted(first)) to_do_[first] = end;
}

void TestExploration::keep(RangeResult record) {
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
  FERMATA_ASSERT(cut_ <= run);
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
    RangeResult record = std::move(next->second);
    explored_.erase(next);
    take_in(std::move(record));
  }
}

void TestExploration::take_in(RangeResult record) {
  const std::uint64_t end = record.end();
  FERMATA_ASSERT(record.first_run <= cut_);
  settled_.push_back(record);
  totals_.add(std::move(record));
  if (options_.until_stable_ppm == 0 || totals_.counts().runs < kStableRuns) return;
  if (totals_.stable_ranges() < kStableRanges) return;
  stable_ = true;
  cut_at(end);
}

std::uint64_t TestExploration::runs_so_far() const {
  std::uint64_t runs = totals_.counts().runs;
  for (const auto& [first, record] : explored_) runs += record.counts.runs;
  return runs;
}

bool TestExploration::over() const {
  if (!under_way_.empty() || !to_do_.empty()) return false;
  if (given_up()) return true;
  const RunRange range = own_chunk(next_chunk_);
  return range.runs == 0 || unwanted(range.first);
}

}  // namespace fermata::sim::cli
