// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an exploration leaves on disk, in the folder `exploration` of its output folder:
//
//   plan.json               what was to be explored, and whether that was done
//   SUITE.NAME/RUN.events   what the process that began with this run has reported
//
// An exploration that was interrupted goes on from it; those of several shards are merged from it.

#include <string>
#include <vector>

#include "fermata/sim/cli/event_reader.hpp"
#include "fermata/sim/cli/plan.hpp"

namespace fermata::sim::cli {

class ResultFolder {
 public:
  enum class State { Under_way, Complete };

  /// The one in the output folder `out`; nothing is read or written yet.
  explicit ResultFolder(const std::string& out);
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;
  ~ResultFolder();

  [[nodiscard]] const std::string& path() const noexcept { return root_; }

  /// Makes it, and keeps every other tool away from it while this lives. Throws UsageError when it
  /// cannot be written to, or another tool has it.
  void take();

  [[nodiscard]] bool has_plan() const;
  /// Throws UsageError when there is none, or it is of another format.
  [[nodiscard]] Plan plan(State* state = nullptr) const;
  /// Throws InputOutputError.
  void write_plan(const Plan& plan, State state) const;

  /// Forgets everything but the plan.
  void clear() const;

  /// Makes the folder of `test`.
  [[nodiscard]] std::string events_path(const std::string& test, std::uint64_t first) const;
  [[nodiscard]] std::string replay_events_path(const std::string& test,
                                               const std::string& tape) const;

  [[nodiscard]] std::vector<RangeResult> ranges(const std::string& test) const;
  /// The files of these, in the order of their runs.
  [[nodiscard]] std::vector<EventFiles> range_files(const std::string& test) const;
  [[nodiscard]] std::vector<ReplayResult> replays(const std::string& test) const;
  void forget(const std::string& test, std::uint64_t first) const;

 private:
  [[nodiscard]] std::string folder_of(const std::string& test) const;

  std::string root_;
  int lock_ = -1;
};

}  // namespace fermata::sim::cli
