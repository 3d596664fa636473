// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/turn_order.hpp"

#include <utility>

#include "fermata/sim/world/node_state.hpp"

namespace fermata::sim::detail {

void TurnOrder::add(NodeState& node) {
  heap_.push({node.next_action(), node.last_ran(), node.number(), &node});
}

void TurnOrder::remove(NodeState& node) noexcept {
  const std::size_t place = std::exchange(node.place_in_order_, kNowhere);
  if (place != kNowhere) heap_.remove(place);
}

void TurnOrder::changed(NodeState& node) noexcept {
  const std::size_t place = node.place_in_order_;
  if (place == kNowhere) return;
  const Instant when = node.next_action();
  if (when != std::exchange(heap_[place].when, when)) heap_.settle(place);
}

void TurnOrder::clear() noexcept {
  for (const Entry& entry : heap_) entry.placed(kNowhere);
  heap_.clear();
}

bool TurnOrder::Entry::before(const Entry& other) const noexcept {
  if (when != other.when) return when < other.when;
  if (last_ran != other.last_ran) return last_ran < other.last_ran;
  return number < other.number;
}

void TurnOrder::Entry::placed(std::size_t index) const noexcept { node->place_in_order_ = index; }

}  // namespace fermata::sim::detail
