// SPDX-License-Identifier: Apache-2.0
#pragma once

// A binary heap whose entries can be changed and taken out wherever they are.
//
// Entry   Ordered by before(other); placed(index) is told where it is now.

#include <cstddef>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

template <class Entry>
class IndexedHeap {
 public:
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// The first of all. REQUIRES: not empty.
  [[nodiscard]] const Entry& front() const noexcept {
    FERMATA_ASSERT(!entries_.empty());
    return entries_.front();
  }
  /// In no order.
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }

  void push(const Entry& entry) {
    entries_.push_back(entry);
    settle(entries_.size() - 1);
  }

  /// An entry by its index; a caller that changes it calls settle().
  [[nodiscard]] Entry& operator[](std::size_t index) noexcept {
    FERMATA_ASSERT(index < entries_.size());
    return entries_[index];
  }

  /// Removes an entry without telling it.
  void remove(std::size_t index) noexcept {
    FERMATA_ASSERT(index < entries_.size());
    const Entry last = entries_.back();
    entries_.pop_back();
    if (index == entries_.size()) return;
    entries_[index] = last;
    settle(index);
  }

  /// Moves what is there to where it belongs.
  void settle(std::size_t index) noexcept {
    FERMATA_ASSERT(index < entries_.size());
    const Entry moved = entries_[index];
    while (index > 0) {
      const std::size_t parent = (index - 1) / 2;
      if (!moved.before(entries_[parent])) break;
      put(index, entries_[parent]);
      index = parent;
    }
    while (true) {
      const std::size_t left = 2 * index + 1;
      if (left >= entries_.size()) break;
      const std::size_t right = left + 1;
      const bool right_first = right < entries_.size() && entries_[right].before(entries_[left]);
      const std::size_t child = right_first ? right : left;
      if (!entries_[child].before(moved)) break;
      put(index, entries_[child]);
      index = child;
    }
    put(index, moved);
  }

  void clear() noexcept { entries_.clear(); }

 private:
  void put(std::size_t index, const Entry& entry) noexcept {
    entries_[index] = entry;
    entry.placed(index);
  }

  std::vector<Entry> entries_;
};

}  // namespace fermata::sim::detail
