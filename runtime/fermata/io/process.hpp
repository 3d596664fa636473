// SPDX-License-Identifier: Apache-2.0
#pragma once

// Processes: started here, or by somebody else and only waited for.
//
//   Process sort = Process::spawn({.program = "sort", .input = Stdio::Pipe, .output =
//   Stdio::Pipe});
//
// Suspension  wait and the streams may suspend; nothing else does.
// Ownership   Its end closes the streams and leaves the process running: one that was started here
//             is reaped when it ends, if its runtime still runs then. With `terminate_when_dropped`
//             it is told to end.
// Errors      InputOutputError, for instance "spawn /bin/flase: No such file or directory".

#include <csignal>
#include <optional>

#include "fermata/core/suspend.hpp"
#include "fermata/io/pipe.hpp"
#include "fermata/reactor/processes.hpp"

namespace fermata {

class Process {
 public:
  /// No process: it can be assigned to and destroyed; everything else throws UsageError. One that
  /// was moved from is the same.
  Process() noexcept = default;

  /// Starts a program. Throws UsageError when `options` are none that a program can be started
  /// with; InputOutputError when there is no such program or directory, or the system has no room
  /// for another process.
  [[nodiscard]] static Process spawn(const ProcessOptions& options,
                                     SourcePlace place = SourcePlace::current());

  /// A process that somebody has started, by its id; how it ends can be told only of children of
  /// this process, and only when nobody else waits for them. Throws UsageError unless `pid` is more
  /// than 0.
  [[nodiscard]] static Process watch(int pid, SourcePlace place = SourcePlace::current());

  /// Waits for the process and returns how it ended. Any number of coroutines may wait, repeatedly;
  /// a wait that is cancelled or times out does not affect the process.
  ProcessExit wait(const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());

  /// Sends a signal. False when it has ended already. Throws UsageError for no signal,
  /// InputOutputError "kill process 7: Operation not permitted".
  bool kill(int signum = SIGTERM) { return handle().kill(signum); }

  [[nodiscard]] int pid() const { return handle().pid(); }
  [[nodiscard]] bool is_ended() const { return handle().is_ended(); }

  // --- streams, this program's ends; UsageError unless they were asked for as pipes ---

  /// The child's standard input; close it to end that.
  [[nodiscard]] PipeStream& input() { return stream(input_, "input"); }
  [[nodiscard]] PipeStream& output() { return stream(output_, "output"); }
  [[nodiscard]] PipeStream& errors() { return stream(errors_, "errors"); }

  // --- for the await family ---

  [[nodiscard]] Event& event() const { return handle(); }
  /// How the process ended; unknown while it runs.
  [[nodiscard]] ProcessExit result() const { return handle().exit(); }

 private:
  using MaybeStream = std::optional<PipeStream>;

  Process(backend::Processes::Spawned spawned, const SourcePlace& place);
  [[nodiscard]] backend::ProcessHandle& handle() const {
    FERMATA_REQUIRE(handle_,
                    "process: an empty value: expected one that was started, and not moved from");
    return *handle_;
  }
  static PipeStream& stream(MaybeStream& stream, const char* name);

  Ref<backend::ProcessHandle> handle_;
  MaybeStream input_;
  MaybeStream output_;
  MaybeStream errors_;
};

}  // namespace fermata
