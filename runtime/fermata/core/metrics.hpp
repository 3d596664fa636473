// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fermata {

/// Counters of a runtime since it was created.
struct Metrics {
  std::uint64_t spawned = 0;
  std::uint64_t finished = 0;
  std::uint64_t switches = 0;  // From one context to another.
  std::uint64_t ticks = 0;
  std::uint64_t microtasks = 0;
  std::uint64_t polls = 0;
  std::uint64_t blocking_polls = 0;
  std::uint64_t timers_fired = 0;
  std::uint64_t slow_steps = 0;
  std::uint64_t deadlocks = 0;
};

}  // namespace fermata
