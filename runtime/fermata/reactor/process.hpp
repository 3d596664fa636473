// SPDX-License-Identifier: Apache-2.0
#pragma once

// A process as an event: what it is started with, and how it ended.
//
// Event       One for each process id. It fires once, when the process has ended, is closed before
//             anybody is told, and keeps the answer (PROC-01, PROC-03).
// Activity    While somebody waits for it.
// Ownership   The end of the last reference stops no process and blocks nobody: a child that was
//             started here is reaped when it ends, without anybody being told. One that outlives
//             the runtime is the program's to reap.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fermata/reactor/handle.hpp"

namespace fermata {

namespace backend {
class Processes;
}  // namespace backend

/// How one of the three standard streams of a child is set up.
enum class Stdio : std::uint8_t {
  Inherit,  // what this process has
  Ignore,   // nothing: /dev/null
  Pipe,     // a pipe, whose other end is this program's
};

struct ProcessOptions {
  /// A path, or a name without a slash, which is looked up in this process's PATH.
  std::string program;
  /// Without the program's own name, which is put in front of them.
  std::vector<std::string> arguments = {};
  /// "NAME=value" each; absent: what this process has.
  std::optional<std::vector<std::string>> environment = {};
  /// Where it runs; empty: where this process does. A relative path of a program begins here.
  std::string directory = {};
  Stdio input = Stdio::Inherit;
  Stdio output = Stdio::Inherit;
  Stdio errors = Stdio::Inherit;
  /// Whether dropping the handle of a running process ends it: with SIGTERM, and with SIGKILL when
  /// this program ends and it still runs.
  bool terminate_when_dropped = false;
};

/// How a process has ended.
class ProcessExit {
 public:
  /// Nobody knows: it is not a child of this process, or somebody else has reaped it.
  ProcessExit() noexcept = default;
  [[nodiscard]] static ProcessExit exited(int code) noexcept { return {How::Exited, code}; }
  [[nodiscard]] static ProcessExit killed(int signum) noexcept { return {How::Killed, signum}; }

  [[nodiscard]] bool is_known() const noexcept { return how_ != How::Unknown; }
  [[nodiscard]] bool success() const noexcept { return how_ == How::Exited && value_ == 0; }
  /// Its exit code, from 0 to 255; absent when it did not exit by itself.
  [[nodiscard]] std::optional<int> exit_code() const noexcept { return value_if(How::Exited); }
  /// The signal that killed it; absent when none did.
  [[nodiscard]] std::optional<int> signal() const noexcept { return value_if(How::Killed); }
  /// All in one number: the exit code, minus the signal's number, or -1 when nobody knows.
  [[nodiscard]] int code() const noexcept { return how_ == How::Killed ? -value_ : value_; }
  /// "exit code 3", "killed by signal 9" or "an end that nobody knows".
  [[nodiscard]] std::string text() const;

  friend bool operator==(const ProcessExit&, const ProcessExit&) = default;

 private:
  enum class How : std::uint8_t { Unknown, Exited, Killed };
  ProcessExit(How how, int value) noexcept : how_(how), value_(value) {}
  [[nodiscard]] std::optional<int> value_if(How how) const noexcept {
    return how_ == how ? std::optional(value_) : std::nullopt;
  }

  How how_ = How::Unknown;
  int value_ = -1;
};

namespace backend {

class ProcessHandle final : public Handle {
 public:
  [[nodiscard]] int pid() const noexcept { return pid_; }
  [[nodiscard]] bool is_ended() const noexcept { return ended_; }
  /// How it ended; unknown while it has not.
  [[nodiscard]] const ProcessExit& exit() const noexcept { return exit_; }

  /// Sends a signal to the process; signal 0 only checks whether it exists. False when it has
  /// ended. Throws UsageError for an invalid signal, InputOutputError "kill process 7: Operation
  /// not permitted".
  bool kill(int signum);

  [[nodiscard]] const Outcome* replay() const noexcept override {
    return is_closed() ? &outcome_ : nullptr;
  }
  [[nodiscard]] std::string info() const override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class Processes;

  enum class Origin : std::uint8_t {
    StartedHere,
    StartedElsewhere,  // It is nobody's to reap before somebody waits for it (PROC-02).
  };
  ProcessHandle(Processes& processes, int pid, Origin origin, bool terminate);
  ~ProcessHandle() override = default;

  void arm() override;
  void disarm() noexcept override;
  void fail_parked() override;
  void close_backend() noexcept override;
  [[nodiscard]] bool is_tracked() const noexcept {
    return origin_ == Origin::StartedHere || waited_for_;
  }

  Processes& processes_;
  int pid_;
  Origin origin_;
  bool terminate_;
  bool waited_for_ = false;
  bool ended_ = false;
  ProcessExit exit_;
  Outcome outcome_;  // Valid once closed.
  std::string program_;
  // This program's ends of its pipes, while they are open.
  std::optional<EventRef> input_;
  std::optional<EventRef> output_;
  std::optional<EventRef> errors_;
};

}  // namespace backend

}  // namespace fermata
