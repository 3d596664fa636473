// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace fermata::sim::cli {

/// Runs `jobs` workers of the plan in `root`, each in a process of its own, and waits for them. An
/// interrupt is handed on to them. Returns the exit code of the first that failed; else
/// kInterrupted when one was told to end before the plan was complete; else 0.
int work_together(const std::string& root, unsigned jobs,
                  std::optional<std::chrono::milliseconds> time);

}  // namespace fermata::sim::cli
