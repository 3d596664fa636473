// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/decision_log.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim {
namespace {

Decision answered(const Draw& draw, std::uint64_t value, Instant at) {
  return {.index = draw.index,
          .key = draw.key,
          .bound = draw.bound,
          .value = value,
          .subject = draw.subject,
          .occurrence = draw.occurrence,
          .at = at,
          .stream = draw.stream,
          .is_pick = draw.is_pick};
}

}  // namespace

void DecisionLog::begin() {
  recorded_.clear();
  draws_ = 0;
  picks_ = 0;
  alternatives_.clear();
  if (listener_ != nullptr) listener_->began();
}

void DecisionLog::add(const Draw& draw, std::uint64_t value, Instant at) {
  FERMATA_ASSERT(draw.is_pick || value != 0);
  FERMATA_ASSERT(draw.index == draws_);
  recorded_.push_back(answered(draw, value, at));
  if (listener_ != nullptr) [[unlikely]] {
    listener_->decided(recorded_.back());
  }
}

void DecisionLog::add_alternatives(const Draw& draw, const Candidates& candidates) {
  FERMATA_ASSERT(draw.is_pick);
  for (std::size_t i = 1; i < candidates.size(); ++i) add_alternative(draw, candidates.path(i));
}

void DecisionLog::add_alternatives(const Draw& draw) {
  FERMATA_ASSERT(!draw.is_pick);
  constexpr std::uint64_t kFew = 8;
  const std::uint64_t largest = draw.bound - 1;  // Of all numbers when there is no bound.
  for (std::uint64_t value = 1; value < std::min(largest, kFew); ++value) {
    add_alternative(draw, value);
  }
  if (largest / 2 >= kFew) add_alternative(draw, largest / 2 + 1);
  if (largest > 0) add_alternative(draw, largest);
}

void DecisionLog::add_alternative(const Draw& draw, std::uint64_t value) {
  if (alternatives_.size() < kMostAlternatives) alternatives_.push_back(answered(draw, value, {}));
}

}  // namespace fermata::sim
