// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/turn_order.hpp"

#include <tuple>
#include <utility>

#include "fermata/sim/world/node_state.hpp"

namespace fermata::sim::detail {

void TurnOrder::add(NodeState& node) {
  heap_.push_back({node.next_action(), &node});
  node.place_in_order = heap_.size() - 1;
  settle(node.place_in_order);
}

void TurnOrder::remove(NodeState& node) noexcept {
  const std::size_t hole = std::exchange(node.place_in_order, NodeState::kNowhere);
  if (hole == NodeState::kNowhere) return;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (hole == heap_.size()) return;
  put(hole, last);
  settle(hole);
}

void TurnOrder::changed(NodeState& node) noexcept {
  if (node.place_in_order == NodeState::kNowhere) return;
  heap_[node.place_in_order].when = node.next_action();
  settle(node.place_in_order);
}

void TurnOrder::clear() noexcept {
  for (const Entry& entry : heap_) entry.node->place_in_order = NodeState::kNowhere;
  heap_.clear();
}

bool TurnOrder::before(const Entry& a, const Entry& b) noexcept {
  const auto rank = [](const Entry& entry) {
    return std::tuple(entry.when, entry.node->last_ran(), entry.node->number());
  };
  return rank(a) < rank(b);
}

void TurnOrder::put(std::size_t index, const Entry& entry) noexcept {
  heap_[index] = entry;
  entry.node->place_in_order = index;
}

void TurnOrder::settle(std::size_t index) noexcept {
  const Entry moved = heap_[index];
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (!before(moved, heap_[parent])) break;
    put(index, heap_[parent]);
    index = parent;
  }
  while (true) {
    const std::size_t left = 2 * index + 1;
    if (left >= heap_.size()) break;
    const std::size_t right = left + 1;
    const bool right_first = right < heap_.size() && before(heap_[right], heap_[left]);
    const std::size_t child = right_first ? right : left;
    if (!before(heap_[child], moved)) break;
    put(index, heap_[child]);
    index = child;
  }
  put(index, moved);
}

}  // namespace fermata::sim::detail
