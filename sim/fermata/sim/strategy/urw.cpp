// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/urw.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

std::string UrwStrategy::order_name() const {
  std::string text = "urw";
  const char* before = ":w=";
  for (const auto& [path, count] : weights_) {
    text += fmt::format("{}{:x}.{}", before, path, count);
    before = ",";
  }
  return text;
}

void UrwStrategy::begin_run(std::uint64_t seed) {
  FERMATA_ASSERT(weights_.size() <= kMostRemembered);
  SeededStrategy::begin_run(seed);
  steps_.clear();
  spawned_.clear();
  for (const auto& [path, count] : weights_) steps_[path].count = count;
}

std::uint64_t UrwStrategy::weight(std::uint64_t path) {
  const Steps* steps = is_counting() ? nullptr : steps_.look_up(path);
  return steps != nullptr ? std::max<std::uint64_t>(steps->count, 1) : 1;
}

std::size_t UrwStrategy::pick(const Candidates& candidates) {
  std::uint64_t sum = 0;
  weighed_.clear();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    weighed_.push_back(weight(candidates.path(i)));
    sum += weighed_.back();
  }
  FERMATA_ASSERT(sum >= candidates.size());
  std::uint64_t drawn = schedule().below(sum);
  std::size_t chosen = 0;
  while (drawn >= weighed_[chosen]) drawn -= weighed_[chosen++];
  FERMATA_ASSERT(chosen < candidates.size());
  return chosen;
}

void UrwStrategy::spawned(std::uint64_t parent, std::uint64_t child) {
  FERMATA_ASSERT(parent != child);
  if (is_counting()) {
    spawned_.push_back(Spawned{parent, child});
    return;
  }
  Steps* of_parent = steps_.look_up(parent);
  const Steps* of_child = steps_.look_up(child);
  if (of_parent == nullptr || of_child == nullptr) return;
  of_parent->count -= std::min(of_parent->count, of_child->count);
}

void UrwStrategy::end_step(std::uint64_t path, const Footprint& /*footprint*/) {
  if (is_counting()) {
    ++steps_[path].count;
  } else if (Steps* steps = steps_.look_up(path); steps != nullptr && steps->count > 0) {
    --steps->count;
  }
}

// The youngest first: what each adds to its parent is complete by then.
void UrwStrategy::learn(const RunSummary& /*run*/) {
  if (!is_counting()) return;
  for (auto each = spawned_.rbegin(); each != spawned_.rend(); ++each) {
    const std::uint64_t count = steps_[each->child].count;
    steps_[each->parent].count += count;
  }
  const std::size_t count = std::min(spawned_.size(), kMostRemembered);
  for (const Spawned& each : std::span(spawned_).first(count)) {
    weights_.emplace_back(each.child, steps_[each.child].count);
  }
}

}  // namespace fermata::sim
