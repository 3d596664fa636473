// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/pct.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/sim/strategy/highest.hpp"

namespace fermata::sim {

std::string PctStrategy::plain_name() const { return fmt::format("pct:{}", depth_); }

void PctStrategy::begin() {
  salt_ = schedule().next();
  next_change_ = 0;
  lowered_.clear();
  change_points_.clear();
  for (std::uint64_t priority = 1; priority < depth_; ++priority) {
    change_points_.push_back(ChangePoint{schedule().below(length().picks()), priority});
  }
  FERMATA_ASSERT(change_points_.size() + 1 == depth_);
  std::sort(change_points_.begin(), change_points_.end(),
            [](const ChangePoint& a, const ChangePoint& b) {
              return a.pick != b.pick ? a.pick < b.pick : a.priority < b.priority;
            });
}

std::size_t PctStrategy::choose(const Candidates& candidates, std::uint64_t picked) {
  const auto pick_highest = [&] {
    return highest(candidates, [this](std::uint64_t path) { return priority(path); });
  };
  std::size_t chosen = pick_highest();
  while (next_change_ < change_points_.size() && change_points_[next_change_].pick <= picked) {
    const std::uint64_t path = candidates.path(chosen);
    std::erase_if(lowered_, [&](const Lowered& lowered) { return lowered.path == path; });
    lowered_.push_back(Lowered{path, change_points_[next_change_++].priority});
    chosen = pick_highest();
  }
  FERMATA_ASSERT(next_change_ <= change_points_.size());
  FERMATA_ASSERT(lowered_.size() <= next_change_);
  return chosen;
}

std::uint64_t PctStrategy::priority(std::uint64_t path) const noexcept {
  for (const Lowered& lowered : lowered_) {
    if (lowered.path == path) return lowered.priority;
  }
  return kDeepest + (key_of(salt_, path) >> 1);
}

}  // namespace fermata::sim
