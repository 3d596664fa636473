// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is wrong in a wait-for graph, in the words of docs/guide/deadlocks.md.
//
// Cycle            Coroutines that wait for one another in a ring.
// Lost wake-up     What could have woken it was over before the wait began, went to somebody else,
//                  or has ended with what it held in its hands.
// Orphan           Nobody is left, or ever was, who could make it fire.
// Cancelled timer  A wait for a timer that somebody stopped or closed.
// Starvation       Somebody could go on, and others are always before it: a run without an end.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/waits/deadlock_rings.hpp"
#include "fermata/sim/waits/wait_graph.hpp"

namespace fermata::sim::detail {

enum class WaitClass : std::uint8_t {
  None,
  Cycle,
  LostWakeUp,
  Orphan,
  CancelledTimer,
  Starvation,
};

/// "cycle", "lost wake-up", "orphan", "cancelled timer", "starvation", "none".
[[nodiscard]] const char* to_string(WaitClass kind) noexcept;

struct Finding {
  WaitClass kind = WaitClass::None;
  std::vector<RingStep> ring;              // Of a cycle.
  std::size_t object = WaitGraph::kNone;   // Of the others.
  std::vector<std::size_t> waiters;        // Who cannot go on because of it directly.
  std::optional<WaitGraph::Deed> culprit;  // Who last had it in his hands, and what he did.
  std::string text;                        // A sentence, without the class.
};

struct Diagnosis {
  /// Cycles first; else in the order of the coroutines.
  std::vector<Finding> findings;

  /// The class of the first finding.
  [[nodiscard]] WaitClass kind() const noexcept {
    return findings.empty() ? WaitClass::None : findings.front().kind;
  }
};

/// With `endless` the run was ended by a limit: what starves is looked for too.
[[nodiscard]] Diagnosis diagnose(const WaitGraph& graph, bool endless);

}  // namespace fermata::sim::detail
