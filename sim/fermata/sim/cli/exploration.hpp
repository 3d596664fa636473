// SPDX-License-Identifier: Apache-2.0
#pragma once

// Explores the tests of one program with as many processes as there may be.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/cli/job.hpp"
#include "fermata/sim/cli/result_folder.hpp"
#include "fermata/sim/cli/run_options.hpp"
#include "fermata/sim/cli/test_binary.hpp"
#include "fermata/sim/cli/test_exploration.hpp"

namespace fermata::sim::cli {

/// The present state of the exploration, all processes together.
struct Moment {
  std::chrono::milliseconds elapsed{};
  /// What is left of the time it has; nothing when nobody has set one.
  std::optional<std::chrono::milliseconds> left;
  std::uint64_t runs = 0;
  std::uint64_t kinds = 0;  // Of behaviours; those that two processes see at a time count twice.
  std::uint64_t failures = 0;
  std::uint64_t runs_wanted = 0;  // kNoEnd when that is not known.
  std::size_t tests_over = 0;
  /// A test that is running; empty when none is.
  std::string test;
};

class Exploration {
 public:
  enum class End { All, Time, Interrupted };

  struct Listener {
    std::function<void(const Moment& moment)> progress;
    /// Called when the run of a failure that has ended its process is about to be made again, which
    /// takes `limit` at most.
    std::function<void(const FailureRecord& failure, std::chrono::milliseconds limit)>
        crash_analysis;
    /// Called once for each test that has come to its end.
    std::function<void(const TestExploration& test)> test_over;
  };

  Exploration(const RunOptions& options, const TestBinary& binary, const ResultFolder& folder,
              const std::vector<std::string>& tests, Listener listener);

  /// From now on `listener` is told.
  void listen(Listener listener) { listener_ = std::move(listener); }

  /// Takes what `folder` has from an exploration that was interrupted. Returns how many runs.
  std::uint64_t resume();
  /// Tapes to replay before anything is explored. Throws UsageError when one is damaged.
  void replay_first(const std::string& corpus);

  /// Throws UsageError when a test process could not do what it was asked.
  End run();

  [[nodiscard]] const std::deque<TestExploration>& tests() const noexcept { return tests_; }
  [[nodiscard]] std::chrono::milliseconds elapsed() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// How a test is doing.
  struct State {
    std::vector<std::string> tapes;  // Still to be replayed.
    unsigned jobs = 0;
    unsigned replays = 0;  // Of those.
    bool over = false;
  };

  bool start_one();
  bool start_one_of(std::size_t test);
  [[nodiscard]] std::vector<std::size_t> in_order_of_need() const;
  void wait();
  void finish(Job& job);
  void note_memory_limit(std::vector<FailureRecord>& failures) const;
  void finish_replay(Job& job, ReportedEvents reported);
  void explored(std::size_t test, Job& job, RangeResult record);
  void tidy_up(std::size_t test);
  void drop_unwanted();
  void examine_crashes(std::size_t test);
  void check_end();
  void note_tests_over();
  void remove_artifacts(const std::vector<FailureRecord>& failures, const TestExploration& test);
  [[nodiscard]] Moment moment() const;
  [[nodiscard]] std::size_t index_of(const Job& job) const;

  const RunOptions& options_;
  const TestBinary& binary_;
  const ResultFolder& folder_;
  Listener listener_;
  std::deque<TestExploration> tests_;
  std::vector<State> states_;
  std::vector<std::unique_ptr<Job>> jobs_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point ending_since_;
  bool ending_ = false;  // Nothing new is started.
  End end_ = End::All;
};

}  // namespace fermata::sim::cli
