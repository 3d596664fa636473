// SPDX-License-Identifier: Apache-2.0
#pragma once

// A failure is printed only after it has come back in a process that has run nothing before.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/run/reproduce.hpp"
#include "fermata/sim/run/runner.hpp"

namespace fermata::sim::detail {

/// The properties of a run that two processes compare.
struct Fingerprint {
  std::string signature;
  std::uint64_t trace_hash = 0;
  std::uint64_t steps = 0;
  std::int64_t end = 0;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
  /// The fingerprint as one line for people.
  [[nodiscard]] std::string text() const;
};

/// A file that nobody else has; removed at the end. Throws InputOutputError.
class TemporaryFile {
 public:
  TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// For when another process has left no answer in `path`: throws InputOutputError when there was no
/// room for one.
void require_room(const std::string& path);

/// This process's environment without what GoogleTest and the simulator read, and with `settings`.
[[nodiscard]] std::vector<std::string> environment_with(const Settings& settings);

/// How long a process may take that repeats what this one has done: ten times as long as this one
/// has lived, and a minute at least.
[[nodiscard]] std::chrono::milliseconds patience_with_repetition();

/// Runs the program `arguments` begins with to its end, its output thrown away. Returns false when
/// it had to be killed, since it took longer than `limit`. Throws InputOutputError when it cannot
/// be started.
bool run_silently(std::vector<std::string> arguments, std::vector<std::string> environment,
                  std::chrono::milliseconds limit = patience_with_repetition());

/// Runs `test` of this program in a fresh process with `settings`, silently. Returns what became of
/// it; nothing when the process did not get that far. Throws InputOutputError when there is no
/// process to be had.
[[nodiscard]] std::optional<Fingerprint> run_in_fresh_process(const Settings& settings,
                                                              const std::string& test);

/// In the fresh process: leaves the fingerprint where the other one looks.
void leave_fingerprint(const Fingerprint& fingerprint, const std::string& path);

}  // namespace fermata::sim::detail
