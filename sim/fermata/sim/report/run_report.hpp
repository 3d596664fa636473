// SPDX-License-Identifier: Apache-2.0
#pragma once

// All there is to show of a run, in whatever form: what failed, why, and the run itself.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/record/failure.hpp"
#include "fermata/sim/report/explanation.hpp"
#include "fermata/sim/tape/decision.hpp"

namespace fermata::sim {

class RunLog;

struct RunReport {
  struct Run {
    std::string title;
    std::shared_ptr<const RunLog> run_log;  // Never null.
    KeyNames names;                         // Of what its decisions speak of.
    /// Which of its turns is the one that decides.
    std::optional<std::size_t> decisive;
  };

  std::string test;     // "Suite.Name"
  std::string program;  // As a tape has it.
  std::uint64_t seed = 0;
  std::string strategy;
  std::string reproduce;           // The command; one line.
  std::optional<Failure> failure;  // Empty when the run passes.
  std::string shrink;              // In a sentence; empty when nothing was made small.
  std::optional<Explanation> explanation;
  /// The run that it is about; after it the nearest one that passes, if there is one. Never empty.
  std::vector<Run> runs;
};

}  // namespace fermata::sim
