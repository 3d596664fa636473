// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which faults a run has and when they strike. Drawn in two steps (swarm testing): first which
// kinds exist in this run, then how often each strikes, so that some runs are made of one kind
// only.

#include <array>
#include <cstdint>

#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/fault.hpp"

namespace fermata::sim::detail {

class FaultPlan {
 public:
  explicit FaultPlan(Decisions& decisions) noexcept : decisions_(decisions) {}

  /// Begins a run in which the kinds of `allowed` may occur.
  void begin(FaultSet allowed) noexcept;
  /// Nothing strikes any more.
  void stop() noexcept;

  /// Whether `fault` strikes here; counted when it does.
  bool strikes(Fault fault, Stream stream, std::uint64_t key) {
    return strength(fault, stream, key, 2) != 0;
  }

  /// How hard `fault` strikes here: 0 for not at all, else up to `bound` - 1.
  std::uint64_t strength(Fault fault, Stream stream, std::uint64_t key, std::uint64_t bound) {
    if (kinds_[static_cast<std::size_t>(fault)].presence == Presence::Absent) return 0;
    return drawn_strength(fault, stream, key, bound);
  }

  [[nodiscard]] const FaultCounts& counts() const noexcept { return counts_; }

 private:
  enum class Presence : std::uint8_t { Undecided, Absent, Present };
  struct Kind {
    Presence presence = Presence::Undecided;
    Odds odds;
  };

  std::uint64_t drawn_strength(Fault fault, Stream stream, std::uint64_t key, std::uint64_t bound);
  void decide(Fault fault, Kind& kind);

  Decisions& decisions_;
  FaultSet allowed_ = FaultSet::none();
  std::array<Kind, kFaultCount> kinds_;
  FaultCounts counts_{};
};

}  // namespace fermata::sim::detail
