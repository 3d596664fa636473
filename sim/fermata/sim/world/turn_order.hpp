// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of the nodes that do not run acts next: the one that can go on first; of several the one
// that ran longest ago; of those that never ran, the one that was made first.

#include <cstddef>
#include <cstdint>

#include "fermata/base/time.hpp"
#include "fermata/sim/base/indexed_heap.hpp"

namespace fermata::sim::detail {

class NodeState;

class TurnOrder {
 public:
  /// The place of a node that runs or has ended.
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  /// REQUIRES: it is not in here.
  void add(NodeState& node);
  /// Nothing happens when it is not in here.
  void remove(NodeState& node) noexcept;
  /// When `node`, if it is in here, can go on has changed.
  void changed(NodeState& node) noexcept;
  void clear() noexcept;

  /// Null when nobody is in here.
  [[nodiscard]] NodeState* first() const noexcept {
    return heap_.empty() ? nullptr : heap_.front().node;
  }
  /// When first() can go on.
  [[nodiscard]] Instant earliest() const noexcept {
    return heap_.empty() ? Instant::never() : heap_.front().when;
  }

 private:
  struct Entry {
    [[nodiscard]] bool before(const Entry& other) const noexcept;
    void placed(std::size_t index) const noexcept;

    Instant when;
    std::uint64_t last_ran;
    std::uint32_t number;
    NodeState* node;
  };

  IndexedHeap<Entry> heap_;
};

}  // namespace fermata::sim::detail
