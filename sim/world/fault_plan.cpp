// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/fault_plan.hpp"

#include <fmt/format.h>

#include <iterator>

namespace fermata::sim::detail {

namespace {
constexpr Odds kOdds[] = {{1, 100}, {1, 25}, {1, 8}, {1, 2}};
}

void FaultPlan::begin(FaultSet allowed) noexcept {
  allowed_ = allowed;
  kinds_.fill({});
  counts_.fill(0);
}

void FaultPlan::stop() noexcept {
  for (Kind& kind : kinds_) kind.presence = Presence::Absent;
}

std::uint64_t FaultPlan::drawn_strength(Fault fault, Stream stream, std::uint64_t key,
                                        std::uint64_t bound) {
  Kind& kind = kinds_[static_cast<std::size_t>(fault)];
  if (kind.presence == Presence::Undecided) decide(fault, kind);
  if (kind.presence == Presence::Absent) return 0;
  const std::uint64_t drawn = decisions_.draw_rarely(stream, key, bound, kind.odds);
  if (drawn != 0) ++counts_[static_cast<std::size_t>(fault)];
  return drawn;
}

void FaultPlan::decide(Fault fault, Kind& kind) {
  kind.presence = Presence::Absent;
  if (!allowed_.has(fault)) return;
  const std::uint64_t present = key_of(key_of(to_string(fault)), "present");
  const std::uint64_t odds = key_of(key_of(to_string(fault)), "odds");
  if (decisions_.naming()) {
    decisions_.name(present, fmt::format("whether this run has '{}'", to_string(fault)));
    decisions_.name(odds, fmt::format("how often '{}' strikes", to_string(fault)));
  }
  if (decisions_.draw(Stream::Fault, present, 2) == 0) return;
  kind.presence = Presence::Present;
  kind.odds = kOdds[decisions_.draw(Stream::Fault, odds, std::size(kOdds))];
}

}  // namespace fermata::sim::detail
