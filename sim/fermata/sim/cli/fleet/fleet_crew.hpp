// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

namespace fermata::sim::cli {

/// What the names of workers begin with that this machine's process `process` is: the machine and
/// the process.
[[nodiscard]] std::string name_begin_of_worker(pid_t process);

/// Runs `jobs` workers of the plan in `root`, each in a process of its own, and waits for them. An
/// interrupt is handed on to them. In the place of one that a signal has killed comes another,
/// unless three have died and none has done a chunk in between: then it ends all and throws Error.
/// Returns the exit code of the first that failed; else kInterrupted when one was told to end
/// before the plan was complete; else 0.
int work_together(const std::string& root, unsigned jobs,
                  std::optional<std::chrono::milliseconds> time);

}  // namespace fermata::sim::cli
