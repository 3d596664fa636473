// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/agenda.hpp"

#include <algorithm>
#include <utility>

namespace fermata::sim::detail {

void Happening::cancel() noexcept {
  if (agenda_ != nullptr) agenda_->remove(*this);
}

void Agenda::schedule(Happening& happening, Instant when, std::uint64_t source) {
  happening.agenda_ = this;
  happening.when_ = when;
  happening.sequence_ = next_sequence_++;
  happening.source_ = source;
  happening.in_batch_ = false;
  heap_.push_back(&happening);
  happening.index_ = heap_.size() - 1;
  sift_up(happening.index_);
  if (happening.index_ == 0) tell_owner();
}

void Agenda::run_due(Instant now, Decisions& decisions, std::uint64_t key) {
  collect_due(now);
  while (true) {
    find_choices();
    if (choices_.empty()) break;
    const bool free = choices_.size() > 1;
    take(choices_[free ? decisions.draw(Stream::Network, key, choices_.size()) : 0])->happen();
  }
  batch_.clear();
}

void Agenda::run_due(Instant now) {
  collect_due(now);
  for (std::size_t at = 0; at < batch_.size(); ++at) {
    if (batch_[at] != nullptr) take(at)->happen();
  }
  batch_.clear();
}

void Agenda::collect_due(Instant now) {
  while (earliest() <= now) {
    Happening& due = *heap_.front();
    remove(due);
    due.agenda_ = this;
    due.in_batch_ = true;
    due.index_ = batch_.size();
    batch_.push_back(&due);
  }
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

Happening* Agenda::take(std::size_t at) noexcept {
  Happening* const taken = std::exchange(batch_[at], nullptr);
  taken->agenda_ = nullptr;
  return taken;
}

void Agenda::clear() noexcept {
  for (Happening* happening : heap_) happening->agenda_ = nullptr;
  for (Happening* happening : batch_) {
    if (happening != nullptr) happening->agenda_ = nullptr;
  }
  heap_.clear();
  batch_.clear();
  tell_owner();
}

bool Agenda::earlier(const Happening& a, const Happening& b) noexcept {
  return a.when_ != b.when_ ? a.when_ < b.when_ : a.sequence_ < b.sequence_;
}

void Agenda::remove(Happening& happening) noexcept {
  happening.agenda_ = nullptr;
  if (happening.in_batch_) {
    batch_[happening.index_] = nullptr;
    return;
  }
  const std::size_t hole = happening.index_;
  Happening* last = heap_.back();
  heap_.pop_back();
  if (hole < heap_.size()) {
    put(hole, last);
    sift_up(hole);
    sift_down(last->index_);
  }
  if (hole == 0) tell_owner();
}

void Agenda::put(std::size_t index, Happening* happening) noexcept {
  heap_[index] = happening;
  happening->index_ = index;
}

void Agenda::sift_up(std::size_t index) noexcept {
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (!earlier(*heap_[index], *heap_[parent])) return;
    Happening* above = heap_[parent];
    put(parent, heap_[index]);
    put(index, above);
    index = parent;
  }
}

void Agenda::sift_down(std::size_t index) noexcept {
  while (true) {
    std::size_t least = index;
    const std::size_t first_child = 2 * index + 1;
    const std::size_t end = std::min(first_child + 2, heap_.size());
    for (std::size_t child = first_child; child < end; ++child) {
      if (earlier(*heap_[child], *heap_[least])) least = child;
    }
    if (least == index) return;
    Happening* below = heap_[least];
    put(least, heap_[index]);
    put(index, below);
    index = least;
  }
}

}  // namespace fermata::sim::detail
