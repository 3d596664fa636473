// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/delay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace fermata::sim {

std::string DelayStrategy::order_name() const {
  return length_.is_known() ? fmt::format("delay:{}:k={}", delays_, length_.longest())
                            : fmt::format("delay:{}", delays_);
}

void DelayStrategy::begin_run(std::uint64_t seed) {
  SeededStrategy::begin_run(seed);
  picked_ = 0;
  delayed_.clear();
  points_.clear();
  for (std::uint64_t i = 0; i < delays_; ++i) {
    points_.push_back(schedule().below(length_.picks()));
  }
  FERMATA_ASSERT(points_.size() == delays_);
  std::sort(points_.begin(), points_.end(), std::greater<>());
}

std::size_t DelayStrategy::pick(const Candidates& candidates) {
  std::size_t chosen = next(candidates);
  while (!points_.empty() && points_.back() <= picked_) {
    points_.pop_back();
    delayed_.push_back(Delayed{candidates.path(chosen), candidates.size() - 1});
    chosen = next(candidates);
  }
  FERMATA_ASSERT(chosen < candidates.size());
  ++picked_;
  const std::uint64_t path = candidates.path(chosen);
  std::erase_if(delayed_, [&](Delayed& delayed) {
    FERMATA_ASSERT(delayed.behind > 0);
    return delayed.path == path || --delayed.behind == 0;
  });
  return chosen;
}

bool DelayStrategy::is_delayed(std::uint64_t path) const noexcept {
  return std::any_of(delayed_.begin(), delayed_.end(),
                     [&](const Delayed& delayed) { return delayed.path == path; });
}

// When all are delayed, whoever has been longest.
std::size_t DelayStrategy::next(const Candidates& candidates) const noexcept {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!is_delayed(candidates.path(i))) return i;
  }
  for (const Delayed& delayed : delayed_) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates.path(i) == delayed.path) return i;
    }
  }
  return 0;
}

}  // namespace fermata::sim
