// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs that may kill their process, or never end: each in a fork of this one, which sees how it
// ended and what was decided until then. The decisions stand in memory that both share, so that
// they are there however the run ended.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fermata/sim/record/crash.hpp"
#include "fermata/sim/tape/decision.hpp"

namespace fermata::sim::detail {

struct ForkedRun {
  /// How it ended its process; its end is of Kind::None when it did not.
  Crash crash;
  /// The decisions that were not calm, in the order of the run; empty when there were too many to
  /// keep.
  std::vector<Decision> decisions;
  bool too_many = false;
  /// Names of what those decisions concern, when the run kept names.
  KeyNames names;
};

/// The listener that a Runner in a fork reports to.
class ForkListener : public DecisionListener {
 public:
  /// From now on what decisions speak of is looked up there; it must outlive the run.
  void take_names(const KeyNames& names) noexcept { names_ = &names; }

 protected:
  const KeyNames* names_ = nullptr;
};

class ForkedRuns {
 public:
  /// A run that takes longer than `limit` of real time is a hang. Throws Error when this process
  /// has several threads, which a fork would not have; InputOutputError when there is no memory.
  explicit ForkedRuns(std::chrono::milliseconds limit);
  ForkedRuns(const ForkedRuns&) = delete;
  ForkedRuns& operator=(const ForkedRuns&) = delete;
  ~ForkedRuns();

  void set_limit(std::chrono::milliseconds limit) noexcept { limit_ = limit; }

  /// Calls `body` in a fork, silently. It hands the listener to a Runner; what was decided in the
  /// last run that began counts. Throws InputOutputError when there is no process to be had.
  [[nodiscard]] ForkedRun run(const std::function<void(ForkListener& listener)>& body);

 private:
  class Page;
  class Recorder;

  [[nodiscard]] std::string end_of_errors() const;

  std::chrono::milliseconds limit_;
  Page* page_;
  int errors_;  // A file in memory: the fork's standard error.
};

}  // namespace fermata::sim::detail
