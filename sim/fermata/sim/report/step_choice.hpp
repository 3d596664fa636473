// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which part of a run a table of its steps shows when there is no room for all.
//
// Order    What is shown first: the step that fails, what decides and the way from there to the
//          failure; what happened to machines and links; the other decisions; then what is closest
//          to the failure among its causes.
// Terse    When there is no room for all causes, the steps that tell something come first, without
//          their bookkeeping: see StepText::telling_clauses. Of the decisions only faults are shown
//          then; the report has a list of all.

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/report/step_cycle.hpp"
#include "fermata/sim/report/step_text.hpp"

namespace fermata::sim {

/// Room for everything, also for steps that led to nothing.
inline constexpr std::size_t kAllLines = std::numeric_limits<std::size_t>::max();

struct StepRange {
  /// Steps by their numbers from the run's first one, the last not included.
  std::size_t from = 0;
  std::size_t to = 0;
  /// How many lines the steps, decisions, disturbances and the marks for what is left out have
  /// together; about, as the step that fails and what decides are always shown.
  std::size_t lines = 0;
  /// What is to be explained is not the last step but that coroutines wait.
  bool blocked = false;
  /// Which of the turns decides.
  std::optional<std::size_t> decisive;
};

/// By their indexes in the run log.
struct StepChoice {
  std::vector<bool> steps;
  /// The steps of which only the telling clauses are shown.
  std::vector<bool> terse;
  std::vector<bool> turns;
  std::vector<bool> disturbances;
  /// The run ends with it; its last repetition alone may be shown.
  std::optional<StepCycle> cycle;
};

/// REQUIRES: the range has a step.
[[nodiscard]] StepChoice choose_steps(const RunLog& run_log, const StepText& text,
                                      const KeyNames& names, const StepRange& range);

}  // namespace fermata::sim
