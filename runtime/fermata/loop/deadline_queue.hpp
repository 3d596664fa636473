// SPDX-License-Identifier: Apache-2.0
#pragma once

// The deadlines of one loop's timers. Most timers of a program are cancelled before they are due:
// one that is leaves its entry behind, which goes when it comes to the head, or together with
// others when three of four are stale.

#include <cstddef>
#include <cstdint>

#include "fermata/base/quad_heap.hpp"
#include "fermata/base/time.hpp"
#include "fermata/loop/id_table.hpp"
#include "fermata/loop/source.hpp"

namespace fermata::loop::detail {

class DeadlineQueue {
 public:
  /// `sources` has every timer that is in the queue, and must outlive it.
  explicit DeadlineQueue(const IdTable<Source>& sources) noexcept : sources_(sources) {}

  /// From now on `timer` is watched. REQUIRES: it is not.
  void push(TimerSource& timer);
  /// From now on `timer` is not watched any more. REQUIRES: it is.
  void remove(TimerSource& timer) noexcept;
  /// Takes out the first timer that is due at `now`: by deadline, then in arming order. Null when
  /// there is none.
  [[nodiscard]] TimerSource* pop_due(Instant now) noexcept;
  /// never() when empty.
  [[nodiscard]] Instant earliest() noexcept;

 private:
  struct Entry {
    Instant deadline;
    std::uint64_t arming = 0;
    CallbackId id = 0;

    [[nodiscard]] bool is_before(const Entry& other) const noexcept {
      return deadline != other.deadline ? deadline < other.deadline : arming < other.arming;
    }
    void moved_to(std::size_t) const noexcept {}
  };

  /// Null for a stale entry.
  [[nodiscard]] TimerSource* timer_of(const Entry& entry) const noexcept;

  const IdTable<Source>& sources_;
  fermata::detail::QuadHeap<Entry> heap_;
  std::size_t stale_ = 0;
  std::uint64_t next_arming_ = 0;
};

}  // namespace fermata::loop::detail
