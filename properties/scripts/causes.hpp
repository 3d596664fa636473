// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why things end. An end that somebody is told of, a reset or a refusal, is true only when
// something has struck that ended this very thing, after it began; and one strike ends one thing.

#include <array>
#include <cstdint>
#include <set>

#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::properties {

class Causes {
 public:
  /// What had struck before something began; nothing for what began with the run.
  using Beginning = sim::FaultCounts;

  explicit Causes(const sim::World& world) : world_(world) {}

  [[nodiscard]] Beginning begin() const { return world_.fault_counts(); }

  /// Whether a strike of `fault` may have ended what has this beginning; it is the cause of nothing
  /// else from now on.
  [[nodiscard]] bool explain(sim::Fault fault, const Beginning& beginning);

 private:
  const sim::World& world_;
  std::array<std::set<std::uint64_t>, sim::kFaultCount> used_;  // Strikes by number, from 0.
};

/// One generation of something that may break, and stays broken then.
class Breakable {
 public:
  explicit Breakable(const Causes::Beginning& beginning = {}) : beginning_(beginning) {}

  /// Somebody was told that it is broken: whether that is true.
  [[nodiscard]] bool is_broken_by(sim::Fault fault, Causes& causes) {
    broken_ = broken_ || causes.explain(fault, beginning_);
    return broken_;
  }
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }

 private:
  Causes::Beginning beginning_;
  bool broken_ = false;
};

}  // namespace fermata::properties
