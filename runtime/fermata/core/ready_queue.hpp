// SPDX-License-Identifier: Apache-2.0
#pragma once

// The coroutines that can run now, in the order in which production runs them. A ring with a power
// of two of slots; grows, keeps order across the wrap (CORE-SC-02). It starts small, so that every
// program meets its growth, and the first few need no memory of their own.

#include <cstddef>
#include <memory>

#include "fermata/base/assert.hpp"
#include "fermata/base/inlining.hpp"

namespace fermata {

class CoroutineBase;

namespace detail {

class ReadyQueue {
 public:
  ReadyQueue() = default;
  ReadyQueue(const ReadyQueue&) = delete;
  ReadyQueue& operator=(const ReadyQueue&) = delete;

  void push_back(CoroutineBase& coroutine) {
    if (size_ == capacity_) [[unlikely]] {
      grow();
    }
    slots_[(head_ + size_++) & (capacity_ - 1)] = &coroutine;
  }

  void push_front(CoroutineBase& coroutine) {
    if (size_ == capacity_) [[unlikely]] {
      grow();
    }
    head_ = (head_ - 1) & (capacity_ - 1);
    slots_[head_] = &coroutine;
    ++size_;
  }

  /// REQUIRES: not empty.
  [[gnu::always_inline]] CoroutineBase& pop_front() noexcept {
    FERMATA_ASSERT(size_ > 0);
    CoroutineBase* coroutine = slots_[head_];
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
    return *coroutine;
  }

  /// push_back and pop_front in one. REQUIRES: not empty.
  void replace_front(CoroutineBase& coroutine) noexcept {
    FERMATA_ASSERT(size_ > 0);
    slots_[(head_ + size_) & (capacity_ - 1)] = &coroutine;
    head_ = (head_ + 1) & (capacity_ - 1);
  }

  /// Removes the one at `index` and keeps the order of the others. REQUIRES: index < size().
  CoroutineBase& take(std::size_t index) noexcept {
    FERMATA_ASSERT(index < size_);
    CoroutineBase* coroutine = slot(index);
    if (index < size_ / 2) {
      for (std::size_t i = index; i > 0; --i) slot(i) = slot(i - 1);
      head_ = (head_ + 1) & (capacity_ - 1);
    } else {
      for (std::size_t i = index; i + 1 < size_; ++i) slot(i) = slot(i + 1);
    }
    --size_;
    return *coroutine;
  }

  /// The candidate at `index`, 0 being the head.
  [[nodiscard]] FERMATA_HOT CoroutineBase& operator[](std::size_t index) const noexcept {
    FERMATA_ASSERT(index < size_);
    return *slots_[(head_ + index) & (capacity_ - 1)];
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// Returns to its initial capacity. REQUIRES: empty.
  void reset() noexcept {
    FERMATA_ASSERT(empty());
    grown_.reset();
    slots_ = first_;
    capacity_ = kFirstCapacity;
    head_ = 0;
  }

 private:
  static constexpr std::size_t kFirstCapacity = 4;

  CoroutineBase*& slot(std::size_t index) noexcept {
    return slots_[(head_ + index) & (capacity_ - 1)];
  }

  [[gnu::noinline, gnu::cold]] void grow() {
    FERMATA_ASSERT(size_ == capacity_);
    const std::size_t capacity = capacity_ * 2;
    auto slots = std::make_unique<CoroutineBase*[]>(capacity);
    for (std::size_t i = 0; i < size_; ++i) slots[i] = slot(i);
    grown_ = std::move(slots);
    slots_ = grown_.get();
    capacity_ = capacity;
    head_ = 0;
    FERMATA_ASSERT((capacity_ & (capacity_ - 1)) == 0);
  }

  CoroutineBase** slots_ = first_;
  std::size_t capacity_ = kFirstCapacity;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  CoroutineBase* first_[kFirstCapacity] = {};
  std::unique_ptr<CoroutineBase*[]> grown_;
};

}  // namespace detail
}  // namespace fermata
