// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of a run as a table: virtual time at the left, a column for each coroutine, and why it
// gave way. With more coroutines than have room on a line their names stand before what they do.

#include <cstddef>
#include <optional>
#include <string>

#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim {

struct TableOptions {
  /// Shown: so many steps at the end, ...
  std::size_t last = 8;
  /// ... and so many before and after each turn that was not calm.
  std::size_t around = 2;
  /// No step before this one is shown, and so many from there on; counted as RunLog::Turn::step.
  std::size_t from = 0;
  std::size_t first = 0;
  /// No more steps than this.
  std::size_t most = 40;
  /// Which of the turns is marked as the one that decides.
  std::optional<std::size_t> decisive;
};

/// `names` are those of the run's decisions.
[[nodiscard]] std::string step_table(const RunLog& run_log, const KeyNames& names,
                                     const TableOptions& options = {});

/// "'writer'", with the machine's name before it when there are several machines.
[[nodiscard]] std::string lane_text(const RunLog& run_log, std::size_t lane);

/// "file.cpp:12".
[[nodiscard]] std::string short_place(const SourcePlace& place);

}  // namespace fermata::sim
