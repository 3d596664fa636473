// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "fermata/sim/cli/event_reader.hpp"
#include "fermata/sim/cli/run_options.hpp"
#include "fermata/sim/cli/test_binary.hpp"

namespace fermata::sim::cli {

/// Whether `failure` is still to be analysed: it is of a run that has ended its process.
[[nodiscard]] bool wants_crash_analysis(const FailureRecord& failure, const RunOptions& options);

/// How long the analysis of `failure` takes at most.
[[nodiscard]] std::chrono::milliseconds crash_analysis_limit(const FailureRecord& failure,
                                                             const RunOptions& options);

/// Has the test program put the run of `failure` on a tape and make it small
/// (fermata/sim/run/crash_reproducer.hpp); adds to the record what came of it. `scratch` is a path
/// for its events. Calls `waiting` many times a second. Gives up when `limit` of real time is over,
/// and when the tool is interrupted.
void analyse_crash(FailureRecord& failure, const RunOptions& options, const TestBinary& binary,
                   const std::string& scratch, std::chrono::milliseconds limit,
                   const std::function<void()>& waiting);

}  // namespace fermata::sim::cli
