// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/failure_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/stack_text.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kDecisionLines = 6;
constexpr std::size_t kMostLines = 80;
constexpr std::size_t kLeastLines = 10;    // A section has room for so many in a long report, too.
constexpr std::size_t kArtifactLines = 7;  // What follows the last section.
constexpr std::size_t kLinesInHead = 6;    // An explanation that is longer has its own section.

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

/// Where and when the shown run fails; of a smaller run also where the run that was found did.
std::string where_and_when(const FoundFailure& found, const FoundFailure& shown,
                           const ReportContext& context) {
  const Failure& failure = shown.failure;
  std::string text = "  ";
  if (!failure.coroutine.empty()) text += fmt::format("coroutine '{}', ", failure.coroutine);
  text += fmt::format("at {}, step {}", describe(failure.at), failure.step);
  if (context.explored) text += fmt::format(", run {}", found.run + 1);
  if (context.runs > 0) text += fmt::format(" of {}", context.runs);
  const bool is_smaller = failure.step != found.failure.step || failure.at != found.failure.at;
  if (is_smaller) {
    text += fmt::format(" (there at {}, step {})", describe(found.failure.at), found.failure.step);
  }
  return text + '\n';
}

/// The less, the more it says about a failure: what decides, faults, the rest of what the world
/// did, and numbers that the program asked for.
std::size_t rank_of(const Decision& decision, bool is_decisive) {
  if (is_decisive) return 0;
  if (decision.stream == backend::RandomStream::Fault) return 1;
  return decision.stream == backend::RandomStream::Workload ? 3 : 2;
}

/// The decisions that have a line each, in their order; with one for the rest at most `lines`.
std::vector<std::size_t> decisions_to_show(const Tape& tape, std::size_t lines,
                                           std::optional<std::size_t> decisive) {
  FERMATA_ASSERT(lines > 0);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < tape.decisions.size(); ++i) {
    if (!goes_without_saying(tape.decisions[i], tape.names)) shown.push_back(i);
  }
  if (shown.size() <= lines) return shown;
  std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
    return rank_of(tape.decisions[a], a == decisive) < rank_of(tape.decisions[b], b == decisive);
  });
  FERMATA_ASSERT(shown.size() > lines);
  shown.resize(lines - 1);
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::string artifacts(const FoundFailure& found, const ReportContext& context) {
  std::string text = fmt::format("trace hash {:#018x}\n", found.tape.trace_hash);
  const auto add = [&](std::string_view what, const std::string& path) {
    if (!path.empty()) text += fmt::format("{}: {}\n", what, path);
  };
  add("tape", context.tape_path);
  add("shrunk tape", context.shrunk_tape_path);
  add("trace", context.trace_path);
  add("histories", context.histories_path);
  add("report", context.report_path);
  if (!context.foreign.empty()) text += context.foreign + '\n';
  return text;
}

std::size_t lines_of(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The first lines of a text, as many as leave the report below its length.
std::string cut_short(std::string_view report, std::string text) {
  const std::size_t taken = lines_of(report) + 1 + kArtifactLines;  // With the section's title.
  const std::size_t room = std::max(kLeastLines, kMostLines - std::min(kMostLines, taken));
  const std::size_t lines = lines_of(text);
  if (lines <= room) return text;
  FERMATA_ASSERT(room >= kLeastLines);
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
  if (!context.foreign.empty()) text += context.foreign + '\n';
  return text;
}

}  // namespace

std::string decisions_text(const Tape& tape, bool all, std::optional<std::size_t> decisive) {
  if (tape.decisions.empty()) {
    return "fails with production's choices: it takes no fault and no other order\n";
  }
  std::string text = "fails with production's choices except:\n";
  const std::size_t count = count_shown(tape);
  if (count == 0) return text + "  nothing: faults could strike in this run, and none did\n";
  const std::vector<std::size_t> shown =
      decisions_to_show(tape, all ? count : kDecisionLines, decisive);
  FERMATA_ASSERT(!shown.empty());
  FERMATA_ASSERT(shown.size() <= count);
  for (const std::size_t index : shown) {
    const Decision& decision = tape.decisions[index];
    text += fmt::format("  {} {}\n", describe(decision.at), describe(decision, tape.names));
  }
  if (count > shown.size())
    text += fmt::format("  and {} more, on the tape\n", count - shown.size());
  return text;
}

// What is wrong and how it came first, then what a person or a tool needs to go on from there.
std::string failure_report(const FoundFailure& found, const ReportContext& context) {
  if (found.crash) return crash_report(found, context);
  FERMATA_ASSERT(context.not_shrunk.empty());
  const FoundFailure& shown = context.shrunk ? context.shrunk->found : found;
  std::string report = headline(shown.failure) + indented(found.failure.beneath);
  const bool waits = !shown.failure.wait_graph.empty();
  const bool is_short = !waits && lines_of(shown.failure.explanation) <= kLinesInHead;
  if (is_short) report += indented(shown.failure.explanation);
  report += where_and_when(found, shown, context);
  report += fmt::format("reproduce: {}\n", context.reproduce);
  report += fmt::format("  signature  {}\n", found.failure.signature());
  if (context.shrunk) report += context.shrunk->summary() + '\n';
  report += decisions_text(shown.tape, context.all_lines,
                           context.explanation ? context.explanation->decisive : std::nullopt);
  if (context.all_lines) add_section(report, "faults of this run", shown.faults);
  add_section(report, "arguments", shown.arguments);
  if (context.explanation) add_section(report, "steps", context.explanation->text());
  const auto add_rest = [&](std::string_view title, const std::string& text) {
    add_section(report, title, context.all_lines ? text : cut_short(report, text));
  };
  if (!is_short) add_rest(waits ? "who waits" : "explanation", shown.failure.explanation);
  add_rest("output of the run", shown.output);
  return report + artifacts(found, context);
}

}  // namespace fermata::sim
