// SPDX-License-Identifier: Apache-2.0
#pragma once

// A 4-ary min-heap of 24-byte timers: no handles, no cancellation.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

template <class Target>
class TimerHeap final {
 public:
  struct Entry {
    std::int64_t deadline;
    std::uint64_t order;  ///< Breaks ties: equal deadlines fire in arming order.
    Target* target;
  };

  bool empty() const { return entries_.empty(); }
  const Entry& top() const { return entries_.front(); }

  void push(std::int64_t deadline, Target* target) {
    const Entry entry{deadline, order_++, target};
    std::size_t hole = entries_.size();
    entries_.push_back(entry);
    while (hole > 0 && before(entry, entries_[(hole - 1) / 4])) {
      entries_[hole] = entries_[(hole - 1) / 4];
      hole = (hole - 1) / 4;
    }
    entries_[hole] = entry;
  }

  Entry pop() {
    const Entry least = entries_.front();
    const Entry last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) sink(last);
    return least;
  }

 private:
  static bool before(const Entry& a, const Entry& b) {
    return a.deadline != b.deadline ? a.deadline < b.deadline : a.order < b.order;
  }

  void sink(const Entry& entry) {
    const std::size_t count = entries_.size();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < count; child = 4 * hole + 1) {
      std::size_t least = child;
      for (std::size_t i = child + 1; i < count && i < child + 4; ++i) {
        if (before(entries_[i], entries_[least])) least = i;
      }
      if (!before(entries_[least], entry)) break;
      entries_[hole] = entries_[least];
      hole = least;
    }
    entries_[hole] = entry;
  }

  std::vector<Entry> entries_;
  std::uint64_t order_ = 0;
};

}  // namespace bench
