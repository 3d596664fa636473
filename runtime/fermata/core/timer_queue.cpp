// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/timer_queue.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/base/inlining.hpp"
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

bool TimerQueue::earlier(const Entry& a, const Entry& b) noexcept {
  return a.deadline != b.deadline ? a.deadline < b.deadline : a.sequence < b.sequence;
}

// An entry on its way stays in registers: one that is stored and read again at once stalls.
FERMATA_HOT void TimerQueue::settle(std::size_t index, const Entry& entry) noexcept {
  heap_[index] = entry;
  entry.timer->queue_index_ = static_cast<std::uint32_t>(index);
}

FERMATA_HOT void TimerQueue::sift_up(std::size_t index, const Entry& entry) noexcept {
  while (index > 0) {
    const std::size_t parent = (index - 1) / kArity;
    if (!earlier(entry, heap_[parent])) break;
    settle(index, heap_[parent]);
    index = parent;
  }
  settle(index, entry);
}

FERMATA_HOT void TimerQueue::sift_down(std::size_t index, const Entry& entry) noexcept {
  Entry* const heap = heap_.data();
  const std::size_t size = heap_.size();
  for (;;) {
    const std::size_t first = index * kArity + 1;
    if (first >= size) break;
    const Entry* least = heap + first;
    const Entry* const end = heap + std::min(first + kArity, size);
    for (const Entry* child = least + 1; child != end; ++child) {
      if (earlier(*child, *least)) least = child;
    }
    if (!earlier(*least, entry)) break;
    settle(index, *least);
    index = static_cast<std::size_t>(least - heap);
  }
  FERMATA_ASSERT(index < size);
  settle(index, entry);
}

void TimerQueue::push(Timer& timer, Instant deadline) {
  FERMATA_ASSERT(timer.queue_index_ >= heap_.size() || heap_[timer.queue_index_].timer != &timer);
  heap_.emplace_back();
  sift_up(heap_.size() - 1, Entry{deadline, next_sequence_++, &timer});
}

void TimerQueue::remove(Timer& timer) noexcept {
  const std::size_t hole = timer.queue_index_;
  FERMATA_ASSERT(hole < heap_.size());
  FERMATA_ASSERT(heap_[hole].timer == &timer);
  const Entry last = heap_.back();
  heap_.pop_back();
  if (hole == heap_.size()) return;
  if (hole > 0 && earlier(last, heap_[(hole - 1) / kArity])) {
    sift_up(hole, last);
  } else {
    sift_down(hole, last);
  }
}

Timer* TimerQueue::pop_due(Instant now, std::uint64_t armed_before) noexcept {
  if (heap_.empty()) return nullptr;
  const Entry& top = heap_.front();
  if (top.deadline > now || top.sequence >= armed_before) return nullptr;
  Timer* timer = top.timer;
  FERMATA_ASSERT(timer->queue_index_ == 0);
  remove(*timer);
  if (!heap_.empty()) bring_in(*heap_.front().timer);
  return timer;
}

bool TimerQueue::is_in_order() const noexcept {
  for (std::size_t i = 0; i < heap_.size(); ++i) {
    if (heap_[i].timer->queue_index_ != i) return false;
    if (i > 0 && earlier(heap_[i], heap_[(i - 1) / kArity])) return false;
  }
  return true;
}

}  // namespace fermata::detail
