// SPDX-License-Identifier: Apache-2.0
#pragma once

// The batch script with which Slurm runs the workers of a plan. Slurm brings workers, not work: its
// array may lose tasks, queue them again and run one twice.

#include <chrono>
#include <cstdint>
#include <string>

#include "fermata/sim/cli/arguments.hpp"

namespace fermata::sim::cli {

struct SlurmOptions {
  /// The absolute path of the plan's folder, the same on all nodes.
  std::string plan;
  /// The absolute path of the tool `fermata`, the same on all nodes.
  std::string tool;
  /// Number of tasks in the array.
  std::uint64_t tasks = 4;
  /// The processors of a task, and its workers.
  unsigned jobs = 1;
  /// After which Slurm ends a task; rounded up to minutes. The task is told a minute before.
  std::chrono::minutes time = std::chrono::hours(1);
  /// Slurm's; empty for the one that is its default.
  std::string partition;
};

/// The text of the script. Throws UsageError for what Slurm could not read or do.
[[nodiscard]] std::string slurm_script(const SlurmOptions& options);

/// What the flags of `fleet slurm` say. Throws UsageError, which names the flag.
[[nodiscard]] SlurmOptions slurm_options(const Arguments& arguments);

}  // namespace fermata::sim::cli
