// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/timer_queue.hpp"

#include <cstddef>

#include "fermata/base/assert.hpp"
#include "fermata/core/timer.hpp"

namespace fermata::detail {

namespace {

// Whoever sleeps has its timer on its stack, just above the frames with which it goes on: brought
// in now, they are there when it is the next to wake.
void bring_in(const Timer& timer) noexcept {
  constexpr std::ptrdiff_t kFrames = 8 * 64, kTimer = 4 * 64;  // Bytes, about.
  const auto* const place = reinterpret_cast<const std::byte*>(&timer);
  for (std::ptrdiff_t at = -kFrames; at < kTimer; at += 64) __builtin_prefetch(place + at, 1);
}

}  // namespace

FERMATA_HOT bool TimerQueue::Entry::is_before(const Entry& other) const noexcept {
  return deadline != other.deadline ? deadline < other.deadline : sequence < other.sequence;
}

FERMATA_HOT void TimerQueue::Entry::moved_to(std::size_t index) const noexcept {
  timer->queue_index_ = static_cast<std::uint32_t>(index);
}

void TimerQueue::push(Timer& timer, Instant deadline) {
  FERMATA_ASSERT(timer.queue_index_ >= heap_.size() || heap_[timer.queue_index_].timer != &timer);
  heap_.push(Entry{deadline, next_sequence_++, &timer});
  FERMATA_ASSERT(heap_[timer.queue_index_].timer == &timer);
}

void TimerQueue::remove(Timer& timer) noexcept {
  FERMATA_ASSERT(timer.queue_index_ < heap_.size());
  FERMATA_ASSERT(heap_[timer.queue_index_].timer == &timer);
  heap_.remove(timer.queue_index_);
}

Timer& TimerQueue::pop() noexcept {
  Timer& timer = *heap_.front().timer;
  FERMATA_ASSERT(timer.queue_index_ == 0);
  remove(timer);
  if (!heap_.empty()) bring_in(*heap_.front().timer);
  return timer;
}

bool TimerQueue::is_in_order() const noexcept {
  for (std::size_t i = 0; i < heap_.size(); ++i) {
    if (heap_[i].timer->queue_index_ != i) return false;
  }
  return heap_.is_in_order();
}

}  // namespace fermata::detail
