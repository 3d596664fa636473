// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of the programs that do not run acts next: the one that can go on first; of several the one
// that ran longest ago; of those that never ran, the one that was made first.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/time.hpp"
#include "fermata/sim/base/indexed_heap.hpp"

namespace fermata::sim::detail {

class TurnOrder {
 public:
  /// Somebody who takes turns.
  class Member {
   public:
    /// Whether it waits for its turn; false while it runs and after its end.
    [[nodiscard]] bool in_order() const noexcept { return place_ != kNowhere; }

   private:
    friend class TurnOrder;
    std::size_t place_ = kNowhere;
  };

  /// `when` it can go on, `last_ran` in the order of all members. REQUIRES: it is not in here.
  void add(Member& member, Instant when, std::uint64_t last_ran, std::uint32_t number) {
    FERMATA_ASSERT(!member.in_order());
    heap_.push({.when = when, .last_ran = last_ran, .number = number, .member = &member});
    FERMATA_ASSERT(member.in_order());
    FERMATA_ASSERT(earliest() <= when);
  }

  /// Nothing happens when it is not in here.
  void remove(Member& member) noexcept {
    const std::size_t place = std::exchange(member.place_, kNowhere);
    if (place == kNowhere) return;
    FERMATA_ASSERT(heap_[place].member == &member);
    heap_.remove(place);
  }

  /// From now on `member` can go on at `when`. REQUIRES: it is in here.
  void changed(Member& member, Instant when) noexcept {
    FERMATA_ASSERT(member.in_order());
    const std::size_t place = member.place_;
    FERMATA_ASSERT(heap_[place].member == &member);
    if (when != std::exchange(heap_[place].when, when)) heap_.settle(place);
  }

  void clear() noexcept {
    for (const Entry& entry : heap_) entry.placed(kNowhere);
    heap_.clear();
  }

  /// Null when nobody is in here.
  [[nodiscard]] Member* first() const noexcept {
    return heap_.empty() ? nullptr : heap_.front().member;
  }
  /// When first() can go on.
  [[nodiscard]] Instant earliest() const noexcept {
    return heap_.empty() ? Instant::never() : heap_.front().when;
  }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  struct Entry {
    [[nodiscard]] bool before(const Entry& other) const noexcept {
      if (when != other.when) return when < other.when;
      if (last_ran != other.last_ran) return last_ran < other.last_ran;
      return number < other.number;
    }
    void placed(std::size_t index) const noexcept { member->place_ = index; }

    Instant when;
    std::uint64_t last_ran;
    std::uint32_t number;
    Member* member;
  };

  IndexedHeap<Entry> heap_;
};

}  // namespace fermata::sim::detail
