// SPDX-License-Identifier: Apache-2.0
#pragma once

// What people read when a run failed.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fermata/sim/record/found_failure.hpp"
#include "fermata/sim/record/shrunk.hpp"
#include "fermata/sim/report/explanation.hpp"
#include "fermata/sim/report/run_report.hpp"

namespace fermata::sim {

/// Beside what was found: how to get there again.
struct ReportContext {
  bool explored = false;       // Else replayed.
  std::uint64_t runs = 0;      // How many were to be explored; 0 when nobody knows.
  std::string reproduce;       // The command; one line.
  std::string tape_path;       // Empty when no tape was written.
  std::string trace_path;      // Empty when the steps were not written.
  std::string histories_path;  // Empty when nothing was recorded.
  std::string report_path;     // Empty when there is no other report than this.
  std::string foreign;         // What foreign libraries import and nobody serves; empty for none.
  std::optional<Shrunk> shrunk;
  std::string not_shrunk;  // Why a crash was not made small; empty when it was.
  std::string shrunk_tape_path;
  std::optional<Explanation> explanation;  // Of the smaller run, if there is one.
  /// Show all of what is cut short otherwise, for a report of at most 80 lines.
  bool all_lines = false;
};

/// What was decided otherwise than in production, a line each; unless `all`, of a long tape what
/// says most about the failure, first of all the `decisive` one.
[[nodiscard]] std::string decisions_text(const Tape& tape, bool all = false,
                                         std::optional<std::size_t> decisive = std::nullopt);

/// Class and message, coroutine, virtual time, trace hash, signature, the one line that begins with
/// "reproduce: "; then, of the smaller run if there is one, what was decided otherwise than in
/// production, why that fails, and what it printed; with `all_lines` also the faults that it had.
/// A crash has instead: the step, the stack and the last of what the process wrote, the tapes, what
/// was decided, and what it had printed until then.
[[nodiscard]] std::string failure_report(const FoundFailure& found, const ReportContext& context);

/// The report as data, for other formats; nothing when the run was not recorded.
[[nodiscard]] std::optional<RunReport> run_report(const FoundFailure& found,
                                                  const ReportContext& context);

}  // namespace fermata::sim
