// SPDX-License-Identifier: Apache-2.0
#pragma once

// A doubly linked list through its elements: O(1) append and removal, no allocation, insertion
// order. An element is a member of at most one list per Link.

#include <cstddef>

#include "fermata/base/assert.hpp"

namespace fermata::detail {

template <class T>
struct Link {
  T* before = nullptr;
  T* after = nullptr;
};

template <class T, Link<T> T::*kLink>
class IntrusiveList {
 public:
  void push_back(T& element) noexcept {
    Link<T>& link = element.*kLink;
    link.before = last_;
    link.after = nullptr;
    (last_ != nullptr ? (last_->*kLink).after : first_) = &element;
    last_ = &element;
    ++size_;
  }

  /// REQUIRES: `next` is in this list.
  void insert_before(T& next, T& element) noexcept {
    FERMATA_ASSERT(is_linked(next));
    Link<T>& link = element.*kLink;
    link.before = (next.*kLink).before;
    link.after = &next;
    (link.before != nullptr ? (link.before->*kLink).after : first_) = &element;
    (next.*kLink).before = &element;
    ++size_;
  }

  /// REQUIRES: `element` is in this list.
  void remove(T& element) noexcept {
    FERMATA_ASSERT(is_linked(element));
    Link<T>& link = element.*kLink;
    (link.before != nullptr ? (link.before->*kLink).after : first_) = link.after;
    (link.after != nullptr ? (link.after->*kLink).before : last_) = link.before;
    link = {};
    --size_;
  }

  [[nodiscard]] T* first() const noexcept { return first_; }
  [[nodiscard]] T* last() const noexcept { return last_; }
  [[nodiscard]] static T* after(const T& element) noexcept { return (element.*kLink).after; }
  [[nodiscard]] static T* before(const T& element) noexcept { return (element.*kLink).before; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  /// Whether the links in both directions and the size agree. Visits all elements.
  [[nodiscard]] bool is_sound() const noexcept {
    const T* before = nullptr;
    std::size_t left = size_;
    for (const T* each = first_; each != nullptr; each = after(*each)) {
      if ((each->*kLink).before != before || left-- == 0) return false;
      before = each;
    }
    return before == last_ && left == 0;
  }

 private:
  /// Whether its neighbour, or the list when it has none, knows it.
  [[nodiscard]] bool is_linked(const T& element) const noexcept {
    const T* const before = (element.*kLink).before;
    return (before != nullptr ? (before->*kLink).after : first_) == &element;
  }

  T* first_ = nullptr;
  T* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace fermata::detail
