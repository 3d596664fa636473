// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/decision_log.hpp"

#include "fermata/base/assert.hpp"

namespace fermata::sim {

void DecisionLog::begin() {
  recorded_.clear();
  draws_ = 0;
  picks_ = 0;
  pick_records_.clear();
  if (listener_ != nullptr) listener_->began();
}

void DecisionLog::add(const Draw& draw, std::uint64_t value, Instant at) {
  FERMATA_ASSERT(draw.is_pick || value != 0);
  FERMATA_ASSERT(draw.index == draws_);
  recorded_.push_back(Decision{.index = draw.index,
                               .key = draw.key,
                               .bound = draw.bound,
                               .value = value,
                               .subject = draw.subject,
                               .occurrence = draw.occurrence,
                               .at = at,
                               .stream = draw.stream,
                               .is_pick = draw.is_pick});
  if (listener_ != nullptr) [[unlikely]] {
    listener_->decided(recorded_.back());
  }
}

void DecisionLog::add_pick(const Draw& draw, std::size_t chosen, const Candidates& candidates) {
  FERMATA_ASSERT(chosen < candidates.size());
  if (pick_records_.size() == kMostPickRecords) return;
  PickRecord& pick = pick_records_.emplace_back(
      PickRecord{.index = draw.index, .occurrence = draw.occurrence, .chosen = chosen});
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    pick.candidates.push_back(candidates.path(i));
  }
}

}  // namespace fermata::sim
