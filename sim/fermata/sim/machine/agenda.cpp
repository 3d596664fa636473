// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/machine/agenda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/sim/base/amount.hpp"

namespace fermata::sim::detail {

void Agenda::schedule(Happening& happening, Instant when, std::uint64_t source) {
  FERMATA_ASSERT(!happening.is_scheduled());
  happening.agenda_ = this;
  happening.when_ = when;
  happening.source_ = source;
  happening.in_batch_ = false;
  heap_.push({when, next_sequence_++, &happening});
  FERMATA_ASSERT(earliest() <= when);
  if (happening.index_ == 0) tell_owner();
}

FERMATA_HOT Happening* Agenda::take(std::size_t at) noexcept {
  FERMATA_ASSERT(at < batch_.size());
  Happening* const taken = std::exchange(batch_[at], nullptr);
  FERMATA_ASSERT(taken != nullptr);
  FERMATA_ASSERT(taken->in_batch_);
  taken->agenda_ = nullptr;
  return taken;
}

void Agenda::run_due(Instant now, Decisions& decisions, std::uint64_t key,
                     std::string_view machine) {
  if (Happening* const only = collect_due(now)) return only->happen();
  const auto tell = [&](const Decision& decision) {
    return fmt::format("of {} things that come to '{}' at once the {} comes first", decision.bound,
                       machine, ordinal(decision.value + 1));
  };
  batch_cut_ = false;
  find_choices();
  while (!choices_.empty()) {
    const bool free = choices_.size() > 1;
    const std::uint64_t chosen =
        free ? decisions.draw(backend::RandomStream::Network, key, choices_.size(), tell) : 0;
    FERMATA_ASSERT(chosen < choices_.size());
    Happening* const next = take(choices_[chosen]);
    replace_choice(chosen, next->source_);
    next->happen();
    if (std::exchange(batch_cut_, false)) find_choices();
  }
  batch_.clear();
}

void Agenda::run_due(Instant now) {
  if (Happening* const only = collect_due(now)) return only->happen();
  for (std::size_t at = 0; at < batch_.size(); ++at) {
    if (batch_[at] != nullptr) take(at)->happen();
  }
  batch_.clear();
}

// Most that happens is alone at its time, and needs no order.
FERMATA_HOT Happening* Agenda::collect_due(Instant now) {
  FERMATA_ASSERT(batch_.empty());
  while (earliest() <= now) {
    Happening& due = *heap_.front().happening;
    remove(due);
    FERMATA_ASSERT(due.when_ <= now);
    if (batch_.empty() && earliest() > now) return &due;
    due.agenda_ = this;
    due.in_batch_ = true;
    due.index_ = static_cast<std::uint32_t>(batch_.size());
    batch_.push_back(&due);
  }
  return nullptr;
}

// Of each source the first one that is left.
void Agenda::find_choices() {
  choices_.clear();
  for (std::size_t at = 0; at < batch_.size(); ++at) {
    if (batch_[at] == nullptr) continue;
    const bool first = std::none_of(choices_.begin(), choices_.end(), [&](std::size_t other) {
      return batch_[other]->source_ == batch_[at]->source_;
    });
    if (first) choices_.push_back(at);
  }
}

// By the next one of the same source, which stands behind it in the batch.
void Agenda::replace_choice(std::size_t chosen, std::uint64_t source) {
  const auto has_source = [&](const Happening* each) {
    return each != nullptr && each->source_ == source;
  };
  const auto behind = batch_.begin() + static_cast<std::ptrdiff_t>(choices_[chosen]);
  FERMATA_ASSERT(*behind == nullptr);
  const auto next = std::find_if(behind, batch_.end(), has_source);
  const auto rest = choices_.erase(choices_.begin() + static_cast<std::ptrdiff_t>(chosen));
  if (next == batch_.end()) return;
  const auto place = static_cast<std::size_t>(next - batch_.begin());
  choices_.insert(std::lower_bound(rest, choices_.end(), place), place);
}

void Agenda::clear() noexcept {
  for (const Entry& entry : heap_) entry.happening->agenda_ = nullptr;
  for (Happening* happening : batch_) {
    if (happening != nullptr) happening->agenda_ = nullptr;
  }
  heap_.clear();
  batch_.clear();
  tell_owner();
}

void Agenda::remove(Happening& happening) noexcept {
  FERMATA_ASSERT(happening.agenda_ == this);
  happening.agenda_ = nullptr;
  if (happening.in_batch_) {
    FERMATA_ASSERT(batch_[happening.index_] == &happening);
    batch_[happening.index_] = nullptr;
    batch_cut_ = true;
    return;
  }
  const bool was_first = happening.index_ == 0;
  heap_.remove(happening.index_);
  if (was_first) tell_owner();
}

}  // namespace fermata::sim::detail
