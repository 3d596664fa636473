// SPDX-License-Identifier: Apache-2.0
#pragma once

// The deadlines of a runtime: a contiguous 4-ary min-heap shared by every reactor, so that order is
// the same on all of them. Never rounds. Equal deadlines fire in arming order (TMR-04).

#include <cstddef>
#include <cstdint>

#include "fermata/base/quad_heap.hpp"
#include "fermata/base/time.hpp"

namespace fermata {

class Timer;

namespace detail {

class TimerQueue {
 public:
  /// A timer in the heap.
  struct Entry {
    Instant deadline;
    std::uint64_t sequence = 0;
    Timer* timer = nullptr;

    [[nodiscard]] bool is_before(const Entry& other) const noexcept;
    void moved_to(std::size_t index) const noexcept;
  };

  /// REQUIRES: `timer` is not in the queue.
  void push(Timer& timer, Instant deadline);
  /// REQUIRES: `timer` is in the queue.
  void remove(Timer& timer) noexcept;

  /// Takes out the earliest timer that is due at `now` and was armed before `armed_before`; null
  /// when there is none.
  Timer* pop_due(Instant now, std::uint64_t armed_before) noexcept {
    if (heap_.empty()) return nullptr;
    const Entry& first = heap_.front();
    return first.deadline > now || first.sequence >= armed_before ? nullptr : &pop();
  }

  /// Everything armed from here on has a sequence number of at least this.
  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_; }

  /// never() when empty.
  [[nodiscard]] Instant earliest() const noexcept {
    return heap_.empty() ? Instant::never() : heap_.front().deadline;
  }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

  /// Whether nobody is before who fires earlier, and each timer knows its place. Looks at all.
  [[nodiscard]] bool is_in_order() const noexcept;

 private:
  /// Takes out the earliest timer. REQUIRES: not empty.
  Timer& pop() noexcept;

  QuadHeap<Entry> heap_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace detail
}  // namespace fermata
