// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim {

/// Steps that a run repeats until its end: the same coroutines give way at the same places.
struct StepCycle {
  std::size_t begin = 0;   // The first step of the last repetition, as an index of the kept ones.
  std::size_t length = 0;  // In steps.
  std::size_t count = 0;   // How often the kept steps have it.
};

/// The shortest cycle among the first `end` kept steps that ends with them; empty when they do not
/// repeat themselves for long enough to be a livelock.
[[nodiscard]] std::optional<StepCycle> find_cycle(const RunLog& run_log, std::size_t end);

}  // namespace fermata::sim
