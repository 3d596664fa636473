// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fermata/base/time.hpp"
#include "fermata/context/context.hpp"
#include "fermata/sim/base/run_limits.hpp"
#include "fermata/sim/machine/fault.hpp"

namespace fermata::sim {

struct WorldOptions {
  /// A run that lasts longer, in virtual time, is a livelock; so is one of more steps.
  Duration time_limit = detail::RunLimits{}.time;
  std::uint64_t step_limit = detail::RunLimits{}.steps;
  /// A run is also a livelock when one machine does more than this without a wait for time to pass:
  /// steps, and timers that fire between two of them; for world.at, rounds of actions. Yielding, or
  /// waiting for no time at all, again and again, keeps everything else from happening.
  std::uint64_t instant_limit = detail::RunLimits{}.steps_at_instant;
  /// Kinds of faults that may occur; each run draws which of them occur, and how often.
  FaultSet faults = FaultSet::all();
  /// Recount everything after each step, instead of what it touched.
  bool full_audit = false;
  StackOptions stacks = {};

  /// The three limits as one value.
  [[nodiscard]] detail::RunLimits limits() const noexcept {
    return {.time = time_limit, .steps = step_limit, .steps_at_instant = instant_limit};
  }
  void set_limits(const detail::RunLimits& limits) noexcept {
    time_limit = limits.time;
    step_limit = limits.steps;
    instant_limit = limits.steps_at_instant;
  }
};

}  // namespace fermata::sim
