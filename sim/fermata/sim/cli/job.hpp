// SPDX-License-Identifier: Apache-2.0
#pragma once

// One process that explores one range, or replays one tape, and is watched: a run that does not end
// is a hang, a process that ends without having reported its result has crashed.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/event_reader.hpp"
#include "fermata/sim/cli/run_options.hpp"
#include "fermata/sim/cli/run_range.hpp"
#include "fermata/sim/cli/test_binary.hpp"
#include "fermata/sim/run/process/shared_status.hpp"

namespace fermata::sim::cli {

/// The parameters of a job.
struct Assignment {
  std::string test;
  RunRange range;
  /// Not empty: to be replayed, as well as it goes; `range` means nothing then.
  std::string tape;
  /// Where the process leaves what it has to tell.
  std::string events;
};

class Job {
 public:
  using Clock = std::chrono::steady_clock;

  /// Throws InputOutputError when the process cannot be started, or its files not be made.
  Job(const RunOptions& options, const TestBinary& binary, Assignment assignment);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  [[nodiscard]] const Assignment& assignment() const noexcept { return assignment_; }
  [[nodiscard]] Child& child() noexcept { return child_; }
  [[nodiscard]] const StatusPage& status() const noexcept { return status_.page(); }
  [[nodiscard]] std::chrono::milliseconds age() const;

  /// Asks the process to end after the run that it is in.
  void stop() noexcept { status_.page().stop.store(1); }
  /// Ends it at once; its result is not wanted.
  void drop() noexcept;
  [[nodiscard]] bool is_dropped() const noexcept { return dropped_; }

  /// Kills the process when its run has gone on for too long.
  void check_for_hang();

  /// The events that it has reported. REQUIRES: the process has ended.
  [[nodiscard]] ReportedEvents reported() const;
  /// The run that has killed it, when it has not reported its end; with `is_over` the last run,
  /// after which it has died.
  [[nodiscard]] RangeResult crash_record(bool is_over = false) const;
  /// What kept it from reporting its result, other than a run; empty otherwise.
  [[nodiscard]] std::string trouble() const;

 private:
  [[nodiscard]] Command command() const;
  [[nodiscard]] std::string reproduce_line(std::uint64_t run, bool alone) const;
  [[nodiscard]] bool dies_alone(std::uint64_t run) const;
  [[nodiscard]] std::string how_it_ended() const;

  const RunOptions& options_;
  const TestBinary& binary_;
  Assignment assignment_;
  SharedStatus status_;
  Child child_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point changed_ = started_;
  std::uint64_t run_seen_ = 0;
  StatusPage::Phase phase_seen_ = StatusPage::Phase::Starting;
  bool hung_ = false;
  bool dropped_ = false;
};

}  // namespace fermata::sim::cli
