// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a run has done that no edge of its code shows: who woke whom and why, which assertions were
// come to and held, how near a compared number came to its bound. Counted in a section that
// libFuzzer reads after each run, clears before the next, and keeps inputs for; without libFuzzer
// nobody does.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fermata/sim/record/catalogue.hpp"
#include "fermata/sim/record/wake_listener.hpp"

namespace fermata::sim {

/// Different things that share a place in one of these are not told apart.
struct CounterTables {
  /// Counters of wakes, by who woke whom and why.
  std::array<std::uint8_t, 4'096> wakes{};
  /// By assertion: how often it was come to, and how often it held.
  std::array<std::uint8_t, 1'024> marks{};
  /// Counters by assertion and distance: no earlier run was as close to the bound, or as far
  /// inside.
  std::array<std::uint8_t, 1'024> bests{};
};

/// At most one at a time: there is one section in a program.
class ExtraCounters final : public WakeListener {
 public:
  /// A run begins.
  void begin_run() noexcept;
  void woken(std::uint64_t by, std::uint64_t who, backend::WakeCause cause) override;
  /// It is over; `counts` are those of all runs so far.
  void end_run(std::span<const AssertionCounts> counts);

  [[nodiscard]] static const CounterTables& tables() noexcept;

 private:
  std::vector<AssertionCounts> before_;  // As of the last run.
};

}  // namespace fermata::sim
