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

#include "fermata/sim/tape/decision.hpp"

namespace fermata::sim::detail {

/// "was killed by signal 11 (Segmentation fault)"; "exited with code 3" when `signal` is 0.
[[nodiscard]] std::string ending_text(int signal, int code);

/// How a process ended before its run did.
struct Death {
  enum class Kind : std::uint8_t { None, Signal, Exit, Hang };

  Kind kind = Kind::None;
  int number = 0;  // Of the signal, or the exit code.
  /// Where in the program, as an offset in its file; 0 when that is not known.
  std::uint64_t place = 0;

  friend bool operator==(const Death&, const Death&) = default;

  /// "crash: was killed by signal 11 (Segmentation fault)", "hang: wall limit".
  [[nodiscard]] std::string signature() const;
};

struct ForkedRun {
  Death death;
  /// What was not calm, in the order of the run; nothing when that was too much to keep.
  std::vector<Decision> decisions;
  bool too_many = false;
  /// Of what those decisions speak of, when the run took names.
  Names names;
  /// Where it was when a signal or a sanitizer ended it, or when it was found to hang; innermost
  /// first.
  std::vector<const void*> stack;
  /// The end of what it wrote to its standard error, past what the run itself prints.
  std::string said;
};

/// What a Runner in a fork reports to.
class ForkListener : public DecisionListener {
 public:
  /// From now on what decisions speak of is looked up there; it must outlive the run.
  void take_names(const Names& names) noexcept { names_ = &names; }

 protected:
  const Names* names_ = nullptr;
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

  [[nodiscard]] std::string what_it_said() const;

  std::chrono::milliseconds limit_;
  Page* page_;
  int errors_;  // A file in memory: the fork's standard error.
};

}  // namespace fermata::sim::detail
