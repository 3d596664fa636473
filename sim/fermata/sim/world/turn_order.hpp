// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of the programs that do not run acts next: the one that can go on first; of several the one
// that ran longest ago; of those that never ran, the one that was made first. Whoever has the turn
// stays at the head of the order: when it ends, one entry has to find its place, and no other.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/quad_heap.hpp"
#include "fermata/base/time.hpp"

namespace fermata::sim::detail {

class TurnOrder {
 public:
  /// Somebody who takes turns.
  class Member {
   public:
    /// Whether it waits for its turn; false while it runs and after its end.
    [[nodiscard]] bool in_order() const noexcept { return place_ != kNowhere && !has_turn_; }

   private:
    friend class TurnOrder;
    std::size_t place_ = kNowhere;
    bool has_turn_ = false;
  };

  /// `when` it can go on, `last_ran` in the order of all members. REQUIRES: it is not in here.
  void add(Member& member, Instant when, std::uint64_t last_ran, std::uint32_t number) {
    FERMATA_ASSERT(member.place_ == kNowhere);
    heap_.push({.when = when, .last_ran = last_ran, .number = number, .member = &member});
    FERMATA_ASSERT(member.in_order());
    FERMATA_ASSERT(earliest() <= when);
  }

  /// Nothing happens when it is not in here. If it has the turn, that ends.
  void remove(Member& member) noexcept {
    member.has_turn_ = false;
    const std::size_t place = std::exchange(member.place_, kNowhere);
    if (place == kNowhere) return;
    FERMATA_ASSERT(heap_[place].member == &member);
    heap_.remove(place);
  }

  /// `member` has the turn. REQUIRES: it waits for that, and nobody has it.
  void begin_turn(Member& member) noexcept {
    FERMATA_ASSERT(member.in_order());
    Entry entry = heap_[member.place_];
    FERMATA_ASSERT(entry.member == &member);
    entry.when = kAtOnce;
    heap_.replace_by_less(member.place_, entry);
    FERMATA_ASSERT(member.place_ == 0);
    member.has_turn_ = true;
  }

  /// `member` waits again: it can go on at `when`. REQUIRES: it has the turn.
  void end_turn(Member& member, Instant when, std::uint64_t last_ran) noexcept {
    FERMATA_ASSERT(member.has_turn_);
    FERMATA_ASSERT(member.place_ == 0);
    member.has_turn_ = false;
    const std::uint32_t number = heap_[0].number;
    heap_.replace(0, {.when = when, .last_ran = last_ran, .number = number, .member = &member});
  }

  /// From now on `member` can go on at `when`. REQUIRES: it waits for its turn.
  void changed(Member& member, Instant when) noexcept {
    FERMATA_ASSERT(member.in_order());
    Entry entry = heap_[member.place_];
    FERMATA_ASSERT(entry.member == &member);
    if (when != std::exchange(entry.when, when)) heap_.replace(member.place_, entry);
  }

  void clear() noexcept {
    for (const Entry& entry : heap_) {
      entry.moved_to(kNowhere);
      entry.member->has_turn_ = false;
    }
    heap_.clear();
  }

  /// Null when nobody is in here. REQUIRES: nobody has the turn.
  [[nodiscard]] Member* first() const noexcept {
    FERMATA_ASSERT(heap_.empty() || heap_.front().when != kAtOnce);
    return heap_.empty() ? nullptr : heap_.front().member;
  }
  /// When the first of those that wait can go on.
  [[nodiscard]] Instant earliest() const noexcept {
    if (heap_.empty()) return Instant::never();
    if (heap_.front().when != kAtOnce) return heap_.front().when;
    const auto others = heap_.begin() + 1;
    const auto end = others + std::min<std::ptrdiff_t>(heap_.kArity, heap_.end() - others);
    Instant earliest = Instant::never();
    for (auto each = others; each != end; ++each) earliest = std::min(earliest, each->when);
    return earliest;
  }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  /// The time of whoever has the turn.
  static constexpr Instant kAtOnce{std::numeric_limits<std::int64_t>::min()};

  struct Entry {
    [[nodiscard]] bool is_before(const Entry& other) const noexcept {
      if (when != other.when) return when < other.when;
      if (last_ran != other.last_ran) return last_ran < other.last_ran;
      return number < other.number;
    }
    void moved_to(std::size_t index) const noexcept { member->place_ = index; }

    Instant when;
    std::uint64_t last_ran;
    std::uint32_t number;
    Member* member;
  };

  fermata::detail::QuadHeap<Entry> heap_;
};

}  // namespace fermata::sim::detail
