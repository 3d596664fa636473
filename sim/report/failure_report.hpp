// SPDX-License-Identifier: Apache-2.0
#pragma once

// What people read when a run failed.

#include <cstdint>
#include <string>

#include "fermata/sim/run/explore.hpp"

namespace fermata::sim {

/// Beside what was found: how to get there again.
struct ReportContext {
  std::uint64_t runs = 0;  // How many were to be explored; 0 for a replay.
  std::string reproduce;   // The command; one line.
  std::string tape_path;   // Empty when no tape was written.
  std::string trace_path;  // Empty when the steps were not written.
};

/// Class and message, coroutine, virtual time, trace hash, signature, the one line that begins with
/// "reproduce: ", the faults that the run had, what was decided otherwise than in production, and
/// what the run printed.
[[nodiscard]] std::string failure_report(const FoundFailure& found, const ReportContext& context);

}  // namespace fermata::sim
