// SPDX-License-Identifier: Apache-2.0
#pragma once

// A queue of at most so many values, in memory of its own that never moves.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::detail {

/// Counts nothing: its owner knows how many values there are.
template <class T>
class Ring {
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "values must move without throwing: put others into a unique_ptr");

 public:
  /// REQUIRES: slots > 0.
  explicit Ring(std::size_t slots)
      : slots_(std::allocator<T>().allocate(slots)), end_(slots_ + slots), head_(slots_) {
    FERMATA_ASSERT(slots > 0);
    tail_ = slots_;
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  /// REQUIRES: it is empty.
  ~Ring() {
    FERMATA_ASSERT(head_ == tail_);
    std::allocator<T>().deallocate(slots_, static_cast<std::size_t>(end_ - slots_));
  }

  /// REQUIRES: it is not full.
  void push(T&& value) noexcept {
    std::construct_at(tail_, std::move(value));
    advance(tail_);
  }

  /// REQUIRES: it is not empty.
  [[nodiscard]] T pop() noexcept {
    T* const oldest = head_;
    advance(head_);
    T value(std::move(*oldest));
    std::destroy_at(oldest);
    return value;
  }

 private:
  void advance(T*& place) const noexcept {
    ++place;
    if (place == end_) place = slots_;
  }

  T* slots_;
  T* end_;
  T* head_;
  T* tail_;
};

}  // namespace fermata::detail
