// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/pct.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fermata::sim {
namespace {

constexpr std::uint64_t kFirstGuess = 100;

}  // namespace

PctStrategy::PctStrategy(std::uint64_t depth, std::uint64_t picks)
    : depth_(depth), longest_(picks) {}

std::string PctStrategy::name() const {
  return longest_ == 0 ? fmt::format("pct:{}", depth_)
                       : fmt::format("pct:{}:k={}", depth_, longest_);
}

void PctStrategy::begin_run(std::uint64_t seed) {
  SeededStrategy::begin_run(seed);
  salt_ = schedule().next();
  expected_ = longest_ == 0 ? kFirstGuess : longest_;
  picked_ = 0;
  next_change_ = 0;
  lowered_.clear();
  change_points_.clear();
  for (std::uint64_t priority = 1; priority < depth_; ++priority) {
    change_points_.push_back(ChangePoint{schedule().below(expected_), priority});
  }
  std::sort(change_points_.begin(), change_points_.end(),
            [](const ChangePoint& a, const ChangePoint& b) {
              return a.pick != b.pick ? a.pick < b.pick : a.priority < b.priority;
            });
}

std::size_t PctStrategy::pick(const Candidates& candidates) {
  const std::uint64_t now = picked_++;
  if (now > 4 * expected_ + 1'000) {
    return static_cast<std::size_t>(schedule().below(candidates.size()));
  }
  std::size_t chosen = highest(candidates);
  while (next_change_ < change_points_.size() && change_points_[next_change_].pick <= now) {
    const std::uint64_t path = candidates.path(chosen);
    std::erase_if(lowered_, [&](const Lowered& lowered) { return lowered.path == path; });
    lowered_.push_back(Lowered{path, change_points_[next_change_++].priority});
    chosen = highest(candidates);
  }
  return chosen;
}

void PctStrategy::end_run(std::uint64_t picks) {
  longest_ = std::max({longest_, picks, std::uint64_t{1}});
}

std::uint64_t PctStrategy::priority(std::uint64_t path) const noexcept {
  for (const Lowered& lowered : lowered_) {
    if (lowered.path == path) return lowered.priority;
  }
  return kDeepest + (key_of(salt_, path) >> 1);
}

std::size_t PctStrategy::highest(const Candidates& candidates) const noexcept {
  std::size_t best = 0;
  std::uint64_t best_priority = priority(candidates.path(0));
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const std::uint64_t other = priority(candidates.path(i));
    if (other > best_priority) {
      best = i;
      best_priority = other;
    }
  }
  return best;
}

}  // namespace fermata::sim
