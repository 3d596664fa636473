// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/test_totals.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/cli/verdict.hpp"

namespace fermata::sim::cli {

void TestTotals::add(RangeResult record) {
  FERMATA_ASSERT(record.first_run >= last_first_run_);
  last_first_run_ = record.first_run;
  const std::uint64_t kinds_before = behaviours_.kinds();
  counts_.add(record.counts);
  behaviours_.add(record.behaviours);
  assertions_.add(record.assertions);
  coverage_ = std::move(record.coverage);
  if (record.first_run == 0) first_world_ = std::move(record.first_world);
  if (skip_reason_.empty()) skip_reason_ = std::move(record.skip_reason);
  trace_hash_ = key_of(trace_hash_, record.trace_hash);
  note_stability(behaviours_.kinds() - kinds_before, record.counts.runs);
  longest_.insert(longest_.end(), record.longest.begin(), record.longest.end());
  std::stable_sort(longest_.begin(), longest_.end(),
                   [](const auto& a, const auto& b) { return a.steps > b.steps; });
  if (longest_.size() > kLongest) longest_.resize(kLongest);
  FERMATA_ASSERT(longest_.size() <= kLongest);
  for (FailureRecord& failure : record.failures) keep(std::move(failure));
}

void TestTotals::add(ReplayResult record) {
  for (const FailureRecord& failure : record.failures) keep(failure);
  replays_.push_back(std::move(record));
}

void TestTotals::keep(FailureRecord failure) {
  FERMATA_ASSERT(!failure.signature.empty());
  const auto known = std::find_if(
      failures_.begin(), failures_.end(),
      [&](const FailureRecord& other) { return other.signature == failure.signature; });
  if (known == failures_.end()) {
    failures_.push_back(std::move(failure));
    return;
  }
  if (failure.steps < known->steps) std::swap(*known, failure);
  superseded_.push_back(std::move(failure));
}

void TestTotals::complete(const FailureRecord& failure) {
  for (FailureRecord& known : failures_) {
    if (known.signature == failure.signature) known = failure;
  }
}

void TestTotals::note_stability(std::uint64_t new_kinds, std::uint64_t runs) noexcept {
  constexpr std::uint64_t kMillion = 1'000'000;
  const bool stable = new_kinds * kMillion < stable_ppm_ * runs;
  stable_ranges_ = stable ? stable_ranges_ + 1 : 0;
}

int TestTotals::exit_code() const noexcept {
  int code = kPass;
  for (const FailureRecord& failure : failures_) {
    code = heavier(code, exit_code_of(failure.failure_class));
  }
  return code;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0.0 %";
  const std::uint64_t tenths = (part * 1'000 + whole / 2) / whole;
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

std::string unseen(const DistinctRuns& behaviours, std::uint64_t runs) {
  return percent(std::min(behaviours.once(), runs), runs);
}

}  // namespace fermata::sim::cli
