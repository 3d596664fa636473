// SPDX-License-Identifier: Apache-2.0
#pragma once

// A run inside the run of a law, in a world of its own: what is judged is what comes of it.

#include <cstdint>

#include "fermata/core/runtime.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/run/runner.hpp"

namespace fermata::properties {

/// One whose seed the law's own run draws; what happens in it is part of that run's trace.
[[nodiscard]] inline sim::RunResult inner_run(sim::Runner& runner) {
  constexpr std::uint64_t kSeeds = 1 << 20;
  const sim::RunResult result = runner.run(random(kSeeds));
  current_runtime().kernel().trace(backend::Trace::TimeAdvanced, nullptr, result.trace_hash);
  return result;
}

}  // namespace fermata::properties
