// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/deadline_queue.hpp"

#include "fermata/base/assert.hpp"

namespace fermata::loop::detail {

namespace {

constexpr std::size_t kStaleMin = 32;  // Fewer are not worth a walk.

}  // namespace

void DeadlineQueue::push(TimerSource& timer) {
  FERMATA_ASSERT(!timer.watched);
  timer.arming = next_arming_++;
  heap_.push({timer.deadline, timer.arming, timer.id});
  timer.watched = true;
}

void DeadlineQueue::remove(TimerSource& timer) noexcept {
  FERMATA_ASSERT(timer.watched);
  timer.watched = false;
  ++stale_;
  if (stale_ < kStaleMin || 4 * stale_ < 3 * heap_.size()) return;
  heap_.remove_if([this](const Entry& entry) { return timer_of(entry) == nullptr; });
  stale_ = 0;
}

TimerSource* DeadlineQueue::pop_due(Instant now) noexcept {
  if (earliest() > now) return nullptr;
  TimerSource* const timer = timer_of(heap_.front());
  FERMATA_ASSERT(timer != nullptr);
  timer->watched = false;
  heap_.remove(0);
  return timer;
}

Instant DeadlineQueue::earliest() noexcept {
  while (!heap_.empty()) {
    const Entry& head = heap_.front();
    if (stale_ == 0 || timer_of(head) != nullptr) return head.deadline;
    heap_.remove(0);
    --stale_;
  }
  return Instant::never();
}

TimerSource* DeadlineQueue::timer_of(const Entry& entry) const noexcept {
  auto* const timer = static_cast<TimerSource*>(sources_.find(entry.id));
  return timer != nullptr && timer->watched && timer->arming == entry.arming ? timer : nullptr;
}

}  // namespace fermata::loop::detail
