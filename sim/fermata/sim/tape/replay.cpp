// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

namespace {

/// Whether the value of `decision` is one that `draw` can have.
bool is_answer(const Decision& decision, const Draw& draw) noexcept {
  return draw.is_pick || draw.bound == 0 || decision.value < draw.bound;
}

}  // namespace

std::string Divergence::text() const {
  const std::string who = coroutine.empty() ? "in no coroutine" : "in '" + coroutine + "'";
  return fmt::format("expected {}; got {}; at {}, {}", expected, got, describe(at), who);
}

Replay::Replay(std::vector<Decision> decisions, std::uint64_t draws, KeyNames names,
               ReplayMode mode)
    : decisions_(std::move(decisions)), draws_(draws), names_(std::move(names)), mode_(mode) {
  for (const Decision& decision : decisions_) by_key_.push_back(&decision);
  std::sort(by_key_.begin(), by_key_.end(),
            [](const Decision* a, const Decision* b) { return a->key < b->key; });
}

void Replay::rewind(const KeyNames& names, const Whereabouts* whereabouts) {
  run_names_ = &names;
  whereabouts_ = whereabouts;
  next_ = 0;
  matched_ = 0;
  divergence_.reset();
  question_.reset();
  open_wishes_ = wishes_;
}

bool Replay::wishes_for(std::uint64_t path) {
  const auto wish = std::find_if(open_wishes_.begin(), open_wishes_.end(),
                                 [&](const Wish& each) { return each.path == path; });
  if (wish == open_wishes_.end()) return false;
  if (wish->skip > 0) {
    --wish->skip;
    return false;
  }
  FERMATA_ASSERT(wish->times > 0);
  if (--wish->times == 0) open_wishes_.erase(wish);
  return true;
}

std::uint64_t Replay::answer(const Draw& draw) {
  FERMATA_ASSERT(!draw.is_pick);
  const Decision* decision = find(draw);
  return decision != nullptr ? decision->value : 0;
}

std::size_t Replay::pick(const Draw& draw, const Candidates& candidates) {
  FERMATA_ASSERT(draw.is_pick);
  FERMATA_ASSERT(draw.bound == candidates.size());
  const Decision* decision = find(draw);
  if (decision == nullptr) return wished_pick(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates.path(i) == decision->value) return i;
  }
  reject(*decision, draw);
  return 0;
}

std::size_t Replay::wished_pick(const Candidates& candidates) {
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (wishes_for(candidates.path(i))) return i;
  }
  return 0;
}

const Decision* Replay::find(const Draw& draw) {
  const Decision* decision = mode_ == ReplayMode::Strict ? find_strictly(draw) : find_by_key(draw);
  if (decision != nullptr && !goes_without_saying(*decision, names_)) ++matched_;
  return decision;
}

const Decision* Replay::find_strictly(const Draw& draw) {
  FERMATA_ASSERT(mode_ == ReplayMode::Strict);
  FERMATA_ASSERT(next_ <= decisions_.size());
  if (divergence_ || next_ == decisions_.size()) return nullptr;
  const Decision& decision = decisions_[next_];
  if (draw.index < decision.index) return nullptr;
  if (draw.key != decision.key || draw.bound != decision.bound || !is_answer(decision, draw)) {
    diverge(expectation(decision), question(draw));
    if (!draw.is_pick) question_ = draw;
    return nullptr;
  }
  ++next_;
  return &decision;
}

const Decision* Replay::find_by_key(const Draw& draw) const {
  FERMATA_ASSERT(mode_ == ReplayMode::Best);
  const auto found = std::lower_bound(
      by_key_.begin(), by_key_.end(), draw.key,
      [](const Decision* decision, std::uint64_t key) { return decision->key < key; });
  if (found == by_key_.end() || (*found)->key != draw.key) return nullptr;
  return is_answer(**found, draw) ? *found : nullptr;
}

void Replay::reject(const Decision& decision, const Draw& draw) {
  FERMATA_ASSERT(draw.is_pick);
  FERMATA_ASSERT(matched_ > 0);
  --matched_;
  if (mode_ == ReplayMode::Strict) {
    diverge(expectation(decision), question(draw) + ", where " +
                                       coroutine_name(decision.value, names_) +
                                       " is not a candidate");
  }
}

void Replay::finish(std::uint64_t draws) {
  if (mode_ == ReplayMode::Best || divergence_) return;
  FERMATA_ASSERT(matched_ <= next_);
  if (next_ < decisions_.size()) {
    diverge(expectation(decisions_[next_]),
            fmt::format("the end of the run after {} draws", draws));
  } else if (draws != draws_) {
    diverge(fmt::format("the end of the run after {} draws", draws_),
            fmt::format("{} draws", draws));
  }
}

std::string Replay::summary() const {
  return fmt::format("{} of {} decisions matched", matched_, count_shown(decisions_, names_));
}

void Replay::diverge(std::string expected, std::string got) {
  FERMATA_ASSERT(!divergence_);
  divergence_ = Divergence{.expected = std::move(expected),
                           .got = std::move(got),
                           .at = Instant{},
                           .step = 0,
                           .coroutine = ""};
  if (whereabouts_ == nullptr) return;
  divergence_->at = whereabouts_->now();
  divergence_->step = whereabouts_->step();
  divergence_->coroutine = whereabouts_->coroutine();
}

std::string Replay::expectation(const Decision& decision) const {
  return fmt::format("draw {} ({})", decision.index, describe(decision, names_));
}

std::string Replay::question(const Draw& draw) const {
  FERMATA_ASSERT(run_names_ != nullptr);
  if (draw.is_pick) {
    return fmt::format("draw {} ({} is first of {} candidates)", draw.index,
                       coroutine_name(draw.subject, *run_names_), draw.bound);
  }
  const std::string of = draw.bound == 0 ? "any number" : fmt::format("one of {}", draw.bound);
  return fmt::format("draw {} ({}, {})", draw.index, to_string(draw.stream), of);
}

void Replay::explain_question(const std::string& sentence) {
  FERMATA_ASSERT(divergence_.has_value());
  FERMATA_ASSERT(question_.has_value());
  if (!sentence.empty()) divergence_->got += fmt::format(", such as: {}", sentence);
  question_.reset();
}

}  // namespace fermata::sim
