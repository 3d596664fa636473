// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/turn_order.hpp"

#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

void TurnOrder::add(Member& member, Instant when, std::uint64_t last_ran, std::uint32_t number) {
  FERMATA_ASSERT(!member.in_order());
  heap_.push({.when = when, .last_ran = last_ran, .number = number, .member = &member});
  FERMATA_ASSERT(member.in_order());
  FERMATA_ASSERT(earliest() <= when);
}

void TurnOrder::remove(Member& member) noexcept {
  const std::size_t place = std::exchange(member.place_, kNowhere);
  if (place == kNowhere) return;
  FERMATA_ASSERT(heap_[place].member == &member);
  heap_.remove(place);
}

void TurnOrder::changed(Member& member, Instant when) noexcept {
  FERMATA_ASSERT(member.in_order());
  const std::size_t place = member.place_;
  FERMATA_ASSERT(heap_[place].member == &member);
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

}  // namespace fermata::sim::detail
