// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a reactor that starts processes and learns of their ends.
//
// Learning  SIGCHLD is watched before anything else; then, and at each SIGCHLD, each process that
//           is tracked is asked after by its own id. Children of others are never reaped (PROC-02).
// Tracked   What was started here, until it has ended, its event dropped or not; and what somebody
//           waits for. While there is any, SIGCHLD has a handler (SIG-01).
// Backend   Starts, asks after and signals one process; everything else is here.
// Source    PROC-01 to PROC-03.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/reactor/process.hpp"
#include "fermata/reactor/stream.hpp"

namespace fermata::backend {

class SignalEvent;

class Processes {
 public:
  /// A process, and the ends of the pipes that were asked for; null for those that were not.
  struct Spawned {
    Ref<ProcessHandle> process;
    Ref<StreamHandle> input;
    Ref<StreamHandle> output;
    Ref<StreamHandle> errors;
  };

  virtual ~Processes();

  /// Throws UsageError when `options` name no program or hold a NUL, InputOutputError, for instance
  /// "spawn /bin/flase: No such file or directory"; then nothing is left of it.
  [[nodiscard]] Spawned spawn(const ProcessOptions& options);

  /// The event of a process that somebody has started, with one more reference; its end is unknown
  /// unless it is a child of this process. Throws UsageError unless `pid` is more than 0.
  [[nodiscard]] Ref<ProcessHandle> watch(int pid);

  // --- for the reactor ---

  /// The run is over: what was to end with its owner is killed. REQUIRES: every handle is closed.
  void kill_terminated() noexcept;
  /// Processes that were told to end, and have not yet.
  [[nodiscard]] std::size_t dying() const noexcept;
  /// Asks after every tracked process.
  void look() noexcept;
  /// SIGCHLD is nobody's business any more.
  void end_run() noexcept;

 protected:
  explicit Processes(detail::Attachment& attachment) noexcept;

  // --- hooks ---

  struct Started {
    int pid = 0;
    Ref<StreamHandle> input;
    Ref<StreamHandle> output;
    Ref<StreamHandle> errors;
  };
  /// `options` are valid. Throws InputOutputError with their description.
  virtual Started start(const ProcessOptions& options) = 0;
  /// How `pid` has ended, once, and then it is reaped; absent while it runs. Unknown for one that
  /// is not a child.
  virtual std::optional<ProcessExit> collect(int pid) noexcept = 0;
  /// Returns 0 or a positive errno value. SIGTERM and SIGKILL throw nothing.
  virtual int send(int pid, int signum) = 0;

  // --- for the backend ---

  /// "spawn cc" or "spawn cc in /src".
  [[nodiscard]] static std::string description_of(const ProcessOptions& options);

  detail::Attachment& attachment_;

 private:
  friend class ProcessHandle;

  /// A child that nobody has a reference to any more.
  struct Orphan {
    int pid;
    bool terminated;  // It was told to end.
  };

  void expect_ends();
  void update_expectation() noexcept;
  void ask_after(ProcessHandle& process) noexcept;
  void forget(const ProcessHandle& process) noexcept;
  void drop(ProcessHandle& process) noexcept;

  std::map<int, ProcessHandle*> open_;  // Those that have not ended.
  std::vector<Orphan> orphans_;
  std::unique_ptr<SignalEvent> child_signal_;
  Subscription subscription_;
};

}  // namespace fermata::backend
