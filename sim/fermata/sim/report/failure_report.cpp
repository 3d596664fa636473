// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/failure_report.hpp"

#include <fmt/format.h>

#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/stack_text.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kDecisionsShown = 20;

std::string indented(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    result += "  " + std::string(text.substr(0, end)) + '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

void add_section(std::string& report, std::string_view title, std::string_view text) {
  FERMATA_ASSERT(!title.empty());
  if (!text.empty()) report += fmt::format("{}:\n{}", title, indented(text));
}

/// Without the line for the signature: the tool has one of its own.
std::string crash_report(const FoundFailure& found, const ReportContext& context) {
  FERMATA_ASSERT(found.crash.has_value());
  const FoundFailure& shown = context.shrunk ? context.shrunk->found : found;
  const bool seen = shown.run_log != nullptr;  // Up to the step that has ended the process.
  std::string text;
  if (seen) text += fmt::format("  in step {} of the run\n", shown.steps + 1);
  for (const std::string& frame : stack_text(found.crash->stack)) text += "  in " + frame + '\n';
  if (!found.crash->errors.empty()) text += "its last words:\n" + found.crash->errors;
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (!context.tape_path.empty()) text += fmt::format("tape: {}\n", context.tape_path);
  text += context.shrunk ? context.shrunk->summary() : "not shrunk: " + context.not_shrunk;
  text += '\n';
  if (!context.shrunk_tape_path.empty()) {
    text += fmt::format("shrunk tape: {}\n", context.shrunk_tape_path);
  }
  text += decisions_text(shown.tape);
  if (!shown.arguments.empty()) text += "arguments:\n" + shown.arguments;
  if (!shown.output.empty()) text += "output of the run until then:\n" + shown.output;
  return text;
}

}  // namespace

std::string decisions_text(const Tape& tape) {
  std::string text = "fails with production's choices except:\n";
  std::size_t shown = 0;
  for (const Decision& decision : tape.decisions) {
    if (shown++ == kDecisionsShown) break;
    text += fmt::format("  {} {}\n", describe(decision.at), describe(decision, tape.names));
  }
  if (tape.decisions.size() > kDecisionsShown) {
    text += fmt::format("  and {} more, on the tape\n", tape.decisions.size() - kDecisionsShown);
  }
  if (tape.decisions.empty()) text += "  nothing\n";
  return text;
}

std::string failure_report(const FoundFailure& found, const ReportContext& context) {
  if (found.crash) return crash_report(found, context);
  FERMATA_ASSERT(context.not_shrunk.empty());
  const Failure& failure = found.failure;
  const std::string where = failure.coroutine.empty()
                                ? std::string()
                                : fmt::format("coroutine '{}', ", failure.coroutine);
  std::string report = fmt::format("{}: {}\n", to_string(failure.verdict), failure.message);
  report += indented(failure.beneath);
  report += fmt::format("  {}at {}, step {}", where, describe(failure.at), failure.step);
  if (context.explored) report += fmt::format(", run {}", found.run + 1);
  if (context.runs > 0) report += fmt::format(" of {}", context.runs);
  report += fmt::format("\n  trace hash {:#018x}\n", found.tape.trace_hash);
  report += fmt::format("  signature  {}\n", failure.signature());
  report += fmt::format("reproduce: {}\n", context.reproduce);
  if (!context.tape_path.empty()) report += fmt::format("tape: {}\n", context.tape_path);
  if (!context.trace_path.empty()) report += fmt::format("trace: {}\n", context.trace_path);
  if (!context.histories_path.empty()) {
    report += fmt::format("histories: {}\n", context.histories_path);
  }
  if (context.shrunk) report += context.shrunk->summary() + '\n';
  if (!context.shrunk_tape_path.empty()) {
    report += fmt::format("shrunk tape: {}\n", context.shrunk_tape_path);
  }
  if (!context.report_path.empty()) report += fmt::format("report: {}\n", context.report_path);
  const FoundFailure& shown = context.shrunk ? context.shrunk->found : found;
  add_section(report, "faults of this run", shown.faults);
  report += decisions_text(shown.tape);
  add_section(report, "arguments", shown.arguments);
  if (context.explanation) add_section(report, "steps", context.explanation->text());
  add_section(report, "explanation", shown.failure.explanation);
  add_section(report, "output of the run", shown.output);
  return report;
}

}  // namespace fermata::sim
