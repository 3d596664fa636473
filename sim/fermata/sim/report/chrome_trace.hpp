// SPDX-License-Identifier: Apache-2.0
#pragma once

// A run as a trace that Perfetto and chrome://tracing show ("Trace Event Format", Google).
//
// Processes  The machines. Threads: their coroutines, and one called "network" for what arrives,
//            and for what is sent outside of all steps.
// Time       Virtual. It stands still within a step, so each step is drawn kStepWidth wide, and no
//            earlier than the end of the one before: where many steps share an instant they run
//            ahead of the clock. `at_ns` in a slice is the true time.
// Arrows     From the step that wakes a coroutine to its next one, and from the sending of a
//            message to its arrival. Decisions and faults are instants.

#include <string>

#include "fermata/base/time.hpp"
#include "fermata/sim/report/run_report.hpp"

namespace fermata::sim {

inline constexpr Duration kStepWidth = std::chrono::microseconds(1);

/// JSON, of the first run of the report.
[[nodiscard]] std::string chrome_trace(const RunReport& report);

}  // namespace fermata::sim
