// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of the nodes that do not run acts next: the one that can go on first; of several the one
// that ran longest ago; of those that never ran, the one that was made first.

#include <cstddef>
#include <vector>

#include "fermata/runtime/base/time.hpp"

namespace fermata::sim::detail {

class NodeState;

class TurnOrder {
 public:
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
    Instant when;
    NodeState* node;
  };

  [[nodiscard]] static bool before(const Entry& a, const Entry& b) noexcept;
  void put(std::size_t index, const Entry& entry) noexcept;
  void settle(std::size_t index) noexcept;

  std::vector<Entry> heap_;
};

}  // namespace fermata::sim::detail
