// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fermata/base/time.hpp"

namespace fermata::sim::detail {

/// The limits of one run. A run that exceeds one of them is a livelock.
struct RunLimits {
  /// In virtual time.
  Duration time = std::chrono::hours(24);
  std::uint64_t steps = 1'000'000;
  /// On one machine without a wait for time to pass: steps, and timers that fire between two of
  /// them; for world.at, rounds of actions.
  std::uint64_t steps_at_instant = 500'000;

  friend bool operator==(const RunLimits&, const RunLimits&) = default;
};

}  // namespace fermata::sim::detail
