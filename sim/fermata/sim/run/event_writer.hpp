// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a test process tells the tool that started it: a file of JSON lines, each written in one go.
//
//   {"event":"failure", ...}   a run that failed, with its report
//   {"event":"replayed", ...}  what became of a tape
//   {"event":"error", ...}     what kept the process from exploring
//   {"event":"explored", ...}  the end: what all runs came to; FILE.behaviours has the trace hashes

#include <cstdint>
#include <string>
#include <string_view>

#include "fermata/sim/report/failure_report.hpp"
#include "fermata/sim/run/explore.hpp"

namespace fermata::sim::detail {

class EventWriter {
 public:
  /// An empty `path`: nobody listens, and nothing is written.
  explicit EventWriter(std::string path) : path_(std::move(path)) {}

  /// `report` is what people read of it.
  void failure(const FoundFailure& found, const ReportContext& context,
               std::string_view report) const;
  /// `summary` says how much of the tape was applied: `matched` decisions of `decisions`.
  void replayed(std::string_view tape, std::string_view summary, std::uint64_t matched,
                std::uint64_t decisions) const;
  void error(std::string_view message) const;
  void explored(const ExploreOptions& options, const ExploreResult& result) const;

 private:
  void write(std::string_view line) const;
  void write_behaviours(const DistinctRuns& behaviours) const;

  std::string path_;
};

}  // namespace fermata::sim::detail
