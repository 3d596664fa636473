// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a process says when a run kills it: how to get there again.

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

/// While it lives a fatal signal first writes "killed in run N" and a line `reproduce: ...` to the
/// standard error descriptor; then it does what it did before. At most one at a time.
class CrashReporter {
 public:
  /// `command` is what repeats the exploration, but for FERMATA_RUNS; `first_run` is the number of
  /// its first run.
  CrashReporter(std::string command, std::uint64_t first_run);
  CrashReporter(const CrashReporter&) = delete;
  CrashReporter& operator=(const CrashReporter&) = delete;
  ~CrashReporter();

  /// The run that begins now, counted from 0.
  void set_run(std::uint64_t run) noexcept {
    FERMATA_ASSERT(run >= first_run_);
    run_.store(run, std::memory_order_relaxed);
  }

 private:
  static constexpr std::array<int, 5> kFatal = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

  static void on_signal(int signum) noexcept;
  void speak() const noexcept;
  void restore() noexcept;

  std::string command_;
  std::uint64_t first_run_;
  std::atomic<std::uint64_t> run_ = 0;  // Lock-free, for the handler.
  std::array<struct sigaction, kFatal.size()> previous_{};
};

}  // namespace fermata::sim::detail
