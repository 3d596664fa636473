// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fermata/base/assert.hpp"

namespace fermata::detail {

/// Membership of an element in a DispatchList.
template <class T>
struct DispatchLink {
  T* before = nullptr;
  T* after = nullptr;
  std::uint64_t joined = 0;  // The dispatch during which it was added; 0 for none.
};

/// A list that may change while it is walked: dispatch() visits, in order, what was there when it
/// began and was not removed since. Dispatches do not nest.
template <class T, DispatchLink<T> T::*kLink>
class DispatchList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] T* first() const noexcept { return first_; }
  [[nodiscard]] static T* after(const T& element) noexcept { return (element.*kLink).after; }

  void push_back(T& element) noexcept {
    element.*kLink = {last_, nullptr, running_ ? dispatches_ : 0};
    (last_ != nullptr ? (last_->*kLink).after : first_) = &element;
    last_ = &element;
  }

  /// REQUIRES: `element` is in the list.
  void remove(T& element) noexcept {
    DispatchLink<T>& link = element.*kLink;
    FERMATA_ASSERT((link.before != nullptr ? (link.before->*kLink).after : first_) == &element);
    if (next_ == &element) next_ = link.after;
    (link.before != nullptr ? (link.before->*kLink).after : first_) = link.after;
    (link.after != nullptr ? (link.after->*kLink).before : last_) = link.before;
    link = {};
  }

  /// `visit` may add and remove any element; it must not throw.
  template <class Visit>
  void dispatch(Visit visit) {
    ++dispatches_;
    running_ = true;
    for (T* element = first_; element != nullptr; element = next_) {
      next_ = (element->*kLink).after;
      if ((element->*kLink).joined != dispatches_) visit(*element);
    }
    running_ = false;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
  T* next_ = nullptr;  // Of the running dispatch.
  std::uint64_t dispatches_ = 0;
  bool running_ = false;
};

}  // namespace fermata::detail
