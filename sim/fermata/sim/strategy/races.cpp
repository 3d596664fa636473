// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/races.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

bool in_conflict(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) noexcept {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const std::uint64_t left = a[i] & ~Footprint::kFlags;
    const std::uint64_t right = b[j] & ~Footprint::kFlags;
    if (left == right) {
      if (((a[i] | b[j]) & Footprint::kWrote) != 0) return true;
      ++i, ++j;
    } else {
      left < right ? ++i : ++j;
    }
  }
  return false;
}

void add_uses(Uses& uses, std::span<const std::uint64_t> more) {
  const auto known = static_cast<std::ptrdiff_t>(uses.size());
  uses.insert(uses.end(), more.begin(), more.end());
  std::inplace_merge(uses.begin(), uses.begin() + known, uses.end());
  std::size_t kept = 0;
  for (const std::uint64_t use : uses) {
    const std::uint64_t name = use & ~Footprint::kFlags;
    if (kept > 0 && (uses[kept - 1] & ~Footprint::kFlags) == name) {
      uses[kept - 1] |= use & Footprint::kFlags;
    } else {
      uses[kept++] = use;
    }
  }
  FERMATA_ASSERT(kept <= uses.size());
  uses.resize(kept);
}

bool dependent(const Step& a, const Step& b) noexcept {
  return a.path == b.path || a.everything || b.everything || in_conflict(a.uses, b.uses);
}

Races::Races(std::span<const Step> steps)
    : steps_(steps),
      words_((steps.size() + 63) / 64),
      order_(steps.size() * words_),
      neighbours_(steps.size()) {
  for (std::size_t j = 0; j < steps.size(); ++j) {
    std::uint64_t* const row = &order_[j * words_];
    for (std::size_t i = j; i-- > 0;) {
      if (before(i, j) || !dependent(steps[i], steps[j])) continue;
      neighbours_[j].push_back(i);
      for (std::size_t word = 0; word < words_; ++word) row[word] |= order_[i * words_ + word];
      row[i / 64] |= std::uint64_t{1} << (i % 64);
    }
  }
}

std::vector<std::uint64_t> Races::initials(std::size_t i, std::size_t j,
                                           std::span<const std::uint64_t> could_run) const {
  FERMATA_ASSERT(i < j);
  FERMATA_ASSERT(j < steps_.size());
  std::vector<std::size_t> others;  // What came up to j, and not because of i.
  bool made_possible =
      std::find(could_run.begin(), could_run.end(), steps_[j].path) != could_run.end();
  for (std::size_t k = i + 1; k < j; ++k) {
    if (before(i, k)) continue;
    others.push_back(k);
    made_possible = made_possible || before(k, j);
  }
  if (!made_possible) return {};
  others.push_back(j);
  std::vector<std::uint64_t> result;
  for (std::size_t at = 0; at < others.size(); ++at) {
    const std::uint64_t path = steps_[others[at]].path;
    const bool first = std::none_of(others.begin(), others.begin() + static_cast<long>(at),
                                    [&](std::size_t k) { return before(k, others[at]); });
    const bool could = std::find(could_run.begin(), could_run.end(), path) != could_run.end();
    if (first && could) result.push_back(path);
  }
  return result;
}

}  // namespace fermata::sim
