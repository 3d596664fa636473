// SPDX-License-Identifier: Apache-2.0
#pragma once

// What follows when a run of a simulated test has failed: it is run again in a fresh process, made
// small, explained, written to a tape and reported.

#include <cstdint>
#include <optional>
#include <string>

#include "fermata/sim/report/failure_report.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/events.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/run/shrinker.hpp"

namespace fermata::sim::detail {

/// What the search for a smaller run may cost.
[[nodiscard]] ShrinkLimits shrink_limits(const Options& options) noexcept;

/// "run.tape" is "run.shrunk.tape" when it is smaller.
[[nodiscard]] std::string path_of_shrunk(std::string path);

class Aftermath {
 public:
  /// All must outlive this; `test` is "Suite.Name".
  Aftermath(const Program& program, const Options& options, const std::string& test,
            const Events& events) noexcept
      : program_(program), options_(options), test_(test), events_(events) {}

  /// `exploration` repeats everything up to the run, for one that does not fail when it is run
  /// alone; `runs` is how many there were to be, 0 when nobody knows.
  void of_exploration(FoundFailure found, const Reproduction& exploration,
                      std::uint64_t runs) const;

  /// Of a run on a tape. It is made small, and explained, only when that was asked for.
  void of_replay(FoundFailure found) const;
  /// Of one that passes; `report` is what there is to show of it.
  void of_passing_replay(RunReport report) const;

 private:
  [[nodiscard]] bool comes_back(FoundFailure& found, const Reproduction& reproduction) const;
  void make_small(const FoundFailure& found, ReportContext& context) const;
  void explain(const FoundFailure& found, ReportContext& context) const;
  [[nodiscard]] std::string name_of(const FoundFailure& found) const;
  void write_artifacts(const FoundFailure& found, ReportContext& context) const;
  void write_beside(const std::string& stem, const FoundFailure& found,
                    ReportContext& context) const;
  void write_histories(const FoundFailure& found, const std::string& stem,
                       ReportContext& context) const;
  void report(const FoundFailure& found, const ReportContext& context) const;
  /// What is asked for of a replay, if anything is.
  void show(const RunReport& report) const;
  [[nodiscard]] ReportFormat format_of_report() const;
  [[nodiscard]] std::string command_to_replay() const;

  const Program& program_;
  const Options& options_;
  const std::string& test_;
  const Events& events_;
};

}  // namespace fermata::sim::detail
