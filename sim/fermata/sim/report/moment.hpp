// SPDX-License-Identifier: Apache-2.0
#pragma once

// At which point of a run somebody wants to see its network and its disks.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fermata/base/time.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim {

/// What a user asks for: the end of a step, a time, or, without either, the end of the run.
struct Moment {
  std::optional<std::uint64_t> step;  // As Failure::step counts.
  std::optional<Instant> time;
};

/// A moment in the terms of one run log.
struct MomentOfRun {
  /// Whether something had happened that happened at that time, when so many steps had begun.
  [[nodiscard]] bool has_come(std::size_t steps_by_then, Instant time) const noexcept {
    return is_time ? time <= at : steps_by_then <= steps;
  }

  bool is_time = false;   // Asked for by the time, and not by a step.
  std::size_t steps = 0;  // How many had begun, counted from the run's first one.
  Instant at;
  /// "at the end of the run, +1 ms", "after step 3, +1 ms", "at +1 ms".
  std::string text;
};

/// Throws UsageError when the run has no such step, or that is not kept any more.
[[nodiscard]] MomentOfRun find_moment(const RunLog& run_log, const Moment& moment);

}  // namespace fermata::sim
