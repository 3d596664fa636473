// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/distinct_runs.hpp"

#include <algorithm>

namespace fermata::sim {

void DistinctRuns::add(const DistinctRuns& other) {
  if (other.level_ > level_) raise_level_to(other.level_);
  FERMATA_ASSERT(level_ >= other.level_);
  for (const std::uint64_t entry : other.slots_) {
    if (entry != 0 && entry <= limit_) insert(entry, (entry & kAgain) != 0);
  }
}

std::vector<std::uint64_t> DistinctRuns::entries() const {
  std::vector<std::uint64_t> result;
  result.reserve(kept_);
  for (const std::uint64_t entry : slots_) {
    if (entry != 0) result.push_back(entry);
  }
  FERMATA_ASSERT(result.size() == kept_);
  std::sort(result.begin(), result.end());
  return result;
}

DistinctRuns DistinctRuns::restore(unsigned level, std::span<const std::uint64_t> entries) {
  DistinctRuns result;
  if (level > 0) result.raise_level_to(level);
  for (const std::uint64_t entry : entries) result.insert(entry, (entry & kAgain) != 0);
  return result;
}

void DistinctRuns::make_room() {
  if (slots_.size() < 2 * kMost) {
    rebuild(slots_.size() * 2);
  } else {
    raise_level_to(level_ + 1);
  }
}

void DistinctRuns::raise_level_to(unsigned level) {
  FERMATA_ASSERT(level >= level_);
  FERMATA_ASSERT(level < 64);
  level_ = level;
  limit_ = ~std::uint64_t{0} >> level;
  rebuild(slots_.size());
}

void DistinctRuns::rebuild(std::size_t slots) {
  FERMATA_ASSERT((slots & (slots - 1)) == 0);
  std::vector<std::uint64_t> old(slots);
  old.swap(slots_);
  kept_ = 0;
  once_ = 0;
  for (const std::uint64_t entry : old) {
    if (entry != 0 && entry <= limit_) insert(entry, (entry & kAgain) != 0);
  }
}

}  // namespace fermata::sim
