// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of a run as a table: virtual time at the left, a column for each coroutine, and what
// it did. With more coroutines than have room on a line their names stand before what they do.
//
// Time     The world's, and it never runs backwards: steps of several machines stand in its order,
//          not in that in which the simulator made them. Where a machine's clock shows something
//          else, that stands behind the step.

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/report/step_choice.hpp"

namespace fermata::sim {

struct TableOptions {
  /// About how many lines it has; kAllLines for every step.
  std::size_t lines = 22;
  /// No step before this one is shown, ...
  std::size_t from = 0;
  /// ... and none from this one on; counted as RunLog::Turn::step.
  std::size_t to = std::numeric_limits<std::size_t>::max();
  /// How the run fails in the last of them; empty when it does not.
  std::string failure;
  /// Whether it fails because coroutines wait forever: then their waits are explained.
  bool blocked = false;
  /// Which of the turns is marked as the one that decides.
  std::optional<std::size_t> decisive;
};

/// `names` are those of the run's decisions. Empty when no step is in the range.
[[nodiscard]] std::string step_table(const RunLog& run_log, const KeyNames& names,
                                     const TableOptions& options = {});

}  // namespace fermata::sim
