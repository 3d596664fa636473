// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shell commands: run, waited for, their output collected or passed on.
//
//   const ExecResult uptime = exec("uptime");
//
// Command     `sh -c COMMAND`, with no input; what it complains of goes where this program's
//             complaints go, unless it is captured.
// End         When the shell has exited and its output has ended: a grandchild that holds the
//             output open is waited for, but not longer than the grace (EXE-01).
// Cancelling  A call that is cancelled, times out or throws tells the shell to end with SIGTERM and
//             closes the pipes; the shell is reaped when it has ended (EXE-03).
// Suspension  Every call suspends.
// Errors      InputOutputError when the shell cannot be started. A command that fails, or that
//             there is none of, is not an error: look at the result's `exit`.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/reactor/process.hpp"

namespace fermata {

struct ExecOptions {
  /// "NAME=value" each; absent: what this process has.
  std::optional<std::vector<std::string>> environment = {};
  /// Where it runs; empty: where this process does.
  std::string directory = {};
  /// Whether standard error is kept in the result.
  bool capture_errors = false;
  /// How long, in all, to wait for the end of the output once the shell has exited; not negative.
  Duration grace = std::chrono::seconds(1);
};

struct ExecResult {
  ProcessExit exit;
  /// The output, as each function defines it; empty when there was none.
  std::string text;
  /// Standard error, with `capture_errors`.
  std::string errors;
  /// The output had not ended when the grace was over: the rest of it is lost.
  bool cut_off = false;
};

/// Takes output as it comes, in pieces; may suspend.
using OutputSink = std::function<void(std::string_view)>;

/// `text` is the last line of the output, without white space at its end. A last line needs no
/// newline; one that is split over reads is one line (EXE-05).
ExecResult exec(std::string_view command, const ExecOptions& how = {},
                const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());

/// Runs `command` like exec(), and adds each line of the output, without trailing white space, to
/// `lines`.
ExecResult exec_lines(std::string_view command, std::vector<std::string>& lines,
                      const ExecOptions& how = {}, const WaitOptions& options = {},
                      SourcePlace place = SourcePlace::current());

/// Runs `command` like exec(), and passes the output to `sink` as well.
ExecResult exec_tee(std::string_view command, const OutputSink& sink, const ExecOptions& how = {},
                    const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());

/// The output goes to `sink` as it is; `text` stays empty.
ExecResult exec_to(std::string_view command, const OutputSink& sink, const ExecOptions& how = {},
                   const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());

/// `text` is the output as it is.
ExecResult exec_output(std::string_view command, const ExecOptions& how = {},
                       const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());

}  // namespace fermata
