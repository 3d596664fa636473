// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/failure_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/stack_text.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kDecisionsShown = 12;
constexpr std::size_t kMostLines = 80;
constexpr std::size_t kLeastLines = 10;  // Of a section, when the report is long before it.

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

/// "safety: " and what is wrong, its further lines indented.
std::string headline(const Failure& failure) {
  const std::string& text = failure.message_lines.empty() ? failure.message : failure.message_lines;
  const std::size_t end = std::min(text.find('\n'), text.size());
  return fmt::format("{}: {}\n", to_string(failure.verdict), text.substr(0, end)) +
         indented(std::string_view(text).substr(std::min(end + 1, text.size())));
}

/// The first lines of a text, as many as leave the report below its length.
std::string cut_short(std::string_view report, std::string text) {
  const auto used = static_cast<std::size_t>(std::count(report.begin(), report.end(), '\n'));
  const std::size_t room = std::max(kLeastLines, kMostLines - std::min(kMostLines, used + 2));
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (lines <= room) return text;
  std::size_t end = 0;
  for (std::size_t i = 1; i < room; ++i) end = text.find('\n', end) + 1;
  text.resize(end);
  return text + fmt::format("... {}; --trace shows them\n", counted(lines - room + 1, "more line"));
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

std::string decisions_text(const Tape& tape, bool all) {
  if (tape.decisions.empty()) {
    return "fails with production's choices: it takes no fault and no other order\n";
  }
  std::string text = "fails with production's choices except:\n";
  const std::size_t count = count_shown(tape);
  if (count == 0) return text + "  nothing: faults could strike in this run, and none did\n";
  const std::size_t most = all ? count : kDecisionsShown;
  std::size_t shown = 0;
  for (const Decision& decision : tape.decisions) {
    if (goes_without_saying(decision, tape.names)) continue;
    if (shown++ == most) break;
    text += fmt::format("  {} {}\n", describe(decision.at), describe(decision, tape.names));
  }
  if (count > most) text += fmt::format("  and {} more, on the tape\n", count - most);
  return text;
}

std::string failure_report(const FoundFailure& found, const ReportContext& context) {
  if (found.crash) return crash_report(found, context);
  FERMATA_ASSERT(context.not_shrunk.empty());
  const Failure& failure = found.failure;
  const std::string where = failure.coroutine.empty()
                                ? std::string()
                                : fmt::format("coroutine '{}', ", failure.coroutine);
  std::string report = headline(failure);
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
  report += decisions_text(shown.tape, context.all_lines);
  add_section(report, "arguments", shown.arguments);
  if (context.explanation) add_section(report, "steps", context.explanation->text());
  const auto add_rest = [&](std::string_view title, const std::string& text) {
    add_section(report, title, context.all_lines ? text : cut_short(report, text));
  };
  add_rest("explanation", shown.failure.explanation);
  add_rest("output of the run", shown.output);
  return report;
}

}  // namespace fermata::sim
