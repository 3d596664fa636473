// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files that a failing run leaves in the folder for them. Where one cannot be written its path
// is "not written: ..." instead: a failure is reported though the disk is full.

#include <string>

#include "fermata/sim/report/failure_report.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::detail {

/// "OUT/Suite.Name/SEED": what the names of all its files begin with.
[[nodiscard]] std::string artifact_stem(const FoundFailure& found, const Options& options);

/// "run.tape" is "run.shrunk.tape" when it is smaller.
[[nodiscard]] std::string path_of_shrunk(std::string path);

/// Writes the tape. Returns its path, or why it is not there.
[[nodiscard]] std::string written_tape(const Tape& tape, const std::string& path);

/// Writes what belongs beside the tape: the report, the histories, the trace hash of each step, as
/// far as they are wanted. Notes their paths.
void write_beside_tape(const FoundFailure& found, const std::string& stem, const Options& options,
                       ReportContext& context);

}  // namespace fermata::sim::detail
