// SPDX-License-Identifier: Apache-2.0
#pragma once

// What follows when a run of a simulated test has failed, in this process or by ending it:
//
//   1. find      the run is made again, where it does no harm, and put on a tape
//   2. confirm   in a fresh process, or in forks
//   3. shrink    the tape is made small (trials.hpp)
//   4. explain   which decision decides
//   5. write     the tapes, and what belongs beside them
//   6. report    the GoogleTest test fails, and the tool is told

#include <cstdint>
#include <optional>
#include <string>

#include "fermata/sim/report/failure_report.hpp"
#include "fermata/sim/run/crash_reproducer.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/event_writer.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/run/shrinker.hpp"

namespace fermata::sim::detail {

class FailurePipeline {
 public:
  /// All must outlive this; `test` is "Suite.Name".
  FailurePipeline(const Program& program, const Options& options, const std::string& test,
                  const EventWriter& events) noexcept
      : program_(program), options_(options), test_(test), events_(events) {}

  /// A failure found by exploring. `exploration` repeats everything up to the run, for one that
  /// does not fail when it is run alone; `runs` is how many there were to be, 0 when nobody knows.
  void explored(FoundFailure found, const Reproduction& exploration, std::uint64_t runs) const;
  /// The last run of `exploration` has ended its process, or did not end. Nothing happens when it
  /// ends this time.
  void explored_crash(const ExploreOptions& exploration) const;

  /// A failure of a run on a tape. It is made small, and explained, only when that was asked for.
  void replayed(FoundFailure found) const;
  /// A tape of a run that ends its process: makes it small. Throws Error when it does not do so.
  void replayed_crash(const Tape& tape) const;
  /// A run on a tape that passes; `report` is what there is to show of it.
  void replayed_passing(RunReport report) const;

 private:
  [[nodiscard]] bool comes_back(FoundFailure& found, const Reproduction& reproduction) const;
  void shrink(const FoundFailure& found, const std::string& path, ReportContext& context) const;
  [[nodiscard]] ShrinkAttempt attempt_to_shrink(const FoundFailure& found,
                                                const ForkedTrials::Keep& keep) const;
  void explain(const FoundFailure& found, ReportContext& context) const;
  void report(const FoundFailure& found, ReportContext context) const;
  /// Writes the report that a replay was asked for, if any.
  void show(const RunReport& report) const;
  [[nodiscard]] ReportFormat format_of_report() const;
  [[nodiscard]] std::string command_to_replay(const std::string& tape) const;

  const Program& program_;
  const Options& options_;
  const std::string& test_;
  const EventWriter& events_;
  CrashReproducer crashes_{program_, options_};
};

}  // namespace fermata::sim::detail
