// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/run_report.hpp"

#include "fermata/sim/report/failure_report.hpp"

namespace fermata::sim {

std::optional<RunReport> run_report(const FoundFailure& found, const ReportContext& context) {
  const FoundFailure& shown = context.shrunk ? context.shrunk->found : found;
  if (shown.run_log == nullptr) return std::nullopt;
  RunReport report;
  report.test = found.tape.test;
  report.program = found.tape.program;
  report.seed = shown.tape.seed;
  report.strategy = shown.tape.strategy;
  report.reproduce = context.reproduce;
  report.failure = shown.failure;
  if (context.shrunk) report.shrink = context.shrunk->summary();
  report.explanation = context.explanation;
  report.runs.push_back({.title = "failing run",
                         .run_log = shown.run_log,
                         .names = shown.tape.names,
                         .decisive = std::nullopt});
  if (!context.explanation) return report;
  report.runs.front().decisive = context.explanation->decisive;
  if (context.explanation->passing != nullptr) {
    report.runs.push_back({.title = "nearest passing run",
                           .run_log = context.explanation->passing,
                           .names = shown.tape.names,
                           .decisive = std::nullopt});
  }
  return report;
}

}  // namespace fermata::sim
