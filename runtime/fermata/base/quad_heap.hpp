// SPDX-License-Identifier: Apache-2.0
#pragma once

// A min-heap in one array, in which each node has four children.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/inlining.hpp"

namespace fermata::detail {

/// An Entry has `is_before(other)`, a strict order, and `moved_to(index)`, which is called whenever
/// it gets another place. An entry on its way stays in registers: one that is stored and read again
/// at once stalls.
template <class Entry>
class QuadHeap {
 public:
  static constexpr std::size_t kArity = 4;

  void push(const Entry& entry) {
    entries_.emplace_back();
    sift_up(entries_.size() - 1, entry);
  }

  /// REQUIRES: index < size().
  void remove(std::size_t index) noexcept {
    FERMATA_ASSERT(index < entries_.size());
    const Entry last = entries_.back();
    entries_.pop_back();
    if (index < entries_.size()) replace(index, last);
  }

  /// Puts `entry` where another one was, and then where it belongs. REQUIRES: index < size().
  FERMATA_HOT void replace(std::size_t index, const Entry& entry) noexcept {
    FERMATA_ASSERT(index < entries_.size());
    if (index > 0 && entry.is_before(entries_[parent_of(index)])) {
      sift_up(index, entry);
    } else {
      sift_down(index, entry);
    }
  }

  /// replace() by an entry that is not behind the one that was there. REQUIRES: index < size().
  FERMATA_HOT void replace_by_less(std::size_t index, const Entry& entry) noexcept {
    FERMATA_ASSERT(index < entries_.size());
    FERMATA_ASSERT(!entries_[index].is_before(entry));
    sift_up(index, entry);
  }

  /// Removes every entry for which `goes(entry)`. Visits all.
  template <class Goes>
  void remove_if(Goes goes) noexcept {
    std::erase_if(entries_, goes);
    for (std::size_t index = entries_.size(); index-- > 0;) {
      const Entry entry = entries_[index];
      sift_down(index, entry);
    }
  }

  /// The least entry. REQUIRES: not empty.
  [[nodiscard]] const Entry& front() const noexcept {
    FERMATA_ASSERT(!entries_.empty());
    return entries_.front();
  }
  [[nodiscard]] const Entry& operator[](std::size_t index) const noexcept {
    FERMATA_ASSERT(index < entries_.size());
    return entries_[index];
  }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

  /// In no order, but the first kArity after the front have the next one among them.
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }
  void clear() noexcept { entries_.clear(); }

  /// Whether no entry is before its parent. Visits all.
  [[nodiscard]] bool is_in_order() const noexcept {
    for (std::size_t index = 1; index < entries_.size(); ++index) {
      if (entries_[index].is_before(entries_[parent_of(index)])) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] static constexpr std::size_t parent_of(std::size_t index) noexcept {
    return (index - 1) / kArity;
  }

  FERMATA_HOT void settle(std::size_t index, const Entry& entry) noexcept {
    entries_[index] = entry;
    entry.moved_to(index);
  }

  FERMATA_HOT void sift_up(std::size_t index, const Entry& entry) noexcept {
    while (index > 0) {
      const std::size_t parent = parent_of(index);
      if (!entry.is_before(entries_[parent])) break;
      settle(index, entries_[parent]);
      index = parent;
    }
    settle(index, entry);
  }

  FERMATA_HOT void sift_down(std::size_t index, const Entry& entry) noexcept {
    Entry* const heap = entries_.data();
    const std::size_t size = entries_.size();
    for (;;) {
      const std::size_t first = index * kArity + 1;
      if (first >= size) break;
      const Entry* least = heap + first;
      const Entry* const end = heap + std::min(first + kArity, size);
      for (const Entry* child = least + 1; child != end; ++child) {
        if (child->is_before(*least)) least = child;
      }
      if (!least->is_before(entry)) break;
      settle(index, *least);
      index = static_cast<std::size_t>(least - heap);
    }
    FERMATA_ASSERT(index < size);
    settle(index, entry);
  }

  std::vector<Entry> entries_;
};

}  // namespace fermata::detail
