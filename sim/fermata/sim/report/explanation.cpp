// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/stack_text.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/report/step_table.hpp"
#include "fermata/sim/report/step_text.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kPassingLines = 5;

Party party(const RunLog& run_log, const RunLog::Suspended& suspended, bool with_stack) {
  FERMATA_ASSERT(suspended.lane < run_log.lanes().size());
  Party party;
  party.coroutine = run_log.lanes()[suspended.lane].name;
  party.place = suspended.place.without_function();
  party.begun = suspended.begun;
  if (with_stack) party.stack = stack_text(suspended.stack);
  return party;
}

std::string text_of(const Party& party) {
  FERMATA_ASSERT(!party.place.empty());
  std::string text =
      fmt::format("'{}' {} {}\n", party.coroutine,
                  party.begun ? "was suspended at" : "had not begun; spawned at", party.place);
  for (const std::string& frame : party.stack) text += "    " + frame + "\n";
  return text;
}

std::string percent(const Share& share) {
  FERMATA_ASSERT(share.failed <= share.runs);
  return fmt::format("{} of {}", share.failed, share.runs);
}

std::string verdict_of(const Culprit& culprit, const Tape& tape) {
  FERMATA_ASSERT(culprit.decision.has_value());
  FERMATA_ASSERT(*culprit.decision < tape.decisions.size());
  const std::size_t at = *culprit.decision;
  std::string text = fmt::format("decides: {} {}\n", describe(tape.decisions[at].at),
                                 describe(tape.decisions[at], tape.names));
  text += culprit.passing != nullptr ? "  without it the run passes\n"
                                     : "  without it the run fails as well, in some way\n";
  const bool is_told = at + 1 < culprit.reseeded.size() &&
                       culprit.reseeded[at].failed < culprit.reseeded[at + 1].failed;
  if (is_told) {
    text +=
        fmt::format("  re-randomised from before this decision: {} runs fail; from after it: {}\n",
                    percent(culprit.reseeded[at]), percent(culprit.reseeded[at + 1]));
  }
  return text;
}

/// How many steps there are up to the one that fails, with it. What comes later is unwinding.
std::size_t end_of_story(const RunLog& run_log, const Failure& failure) {
  const auto& steps = run_log.steps();
  const auto fails = std::find_if(steps.rbegin(), steps.rend(), [&](const RunLog::Step& step) {
    return step.number <= failure.step;
  });
  return run_log.forgotten() + static_cast<std::size_t>(steps.rend() - fails);
}

bool waits_forever(const Failure& failure) {
  return failure.verdict == Verdict::Deadlock ||
         (failure.verdict == Verdict::Liveness && !failure.by_limit);
}

/// How the run fails, short enough for a line of a table.
std::string failing_text(const Failure& failure) {
  constexpr std::size_t kMost = 100;
  if (waits_forever(failure)) return "coroutines wait forever";
  std::string text = failure.message.substr(0, failure.message.find('\n'));
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

/// Whether what a run does from this step on is more than to wait and to wake.
bool tells_something(const RunLog& run_log, std::size_t from) {
  FERMATA_ASSERT(from <= run_log.forgotten() + run_log.steps().size());
  const StepText text(run_log);
  const std::size_t begin = from - std::min(from, run_log.forgotten());
  for (std::size_t i = begin; i < run_log.steps().size(); ++i) {
    if (run_log.steps()[i].ending == RunLog::Ending::Ends) return true;
    if (!text.telling_clauses(i).empty()) return true;
  }
  return false;
}

/// How the nearest passing run goes on from the step that a turn belongs to.
std::string passing_text(const RunLog& passing, const RunLog::Turn& turn, const KeyNames& names,
                         bool all_steps) {
  if (!all_steps && !(turn.decision.is_pick && tells_something(passing, turn.step))) return {};
  TableOptions rest;
  rest.from = turn.step;
  rest.lines = all_steps ? kAllLines : kPassingLines;
  return step_table(passing, names, rest);
}

}  // namespace

std::string Explanation::text() const {
  std::string text = table + verdict;
  if (first) text += "  ran: " + text_of(*first);
  if (second) text += "  would have run: " + text_of(*second);
  if (!passing_table.empty()) text += "without it:\n" + passing_table;
  return text;
}

Explanation explain(const FoundFailure& found, const Culprit& culprit, const ExplainOptions& how) {
  Explanation explanation;
  if (found.run_log == nullptr) return explanation;
  const RunLog& run_log = *found.run_log;
  TableOptions options;
  if (how.all_steps) options.lines = kAllLines;
  options.decisive = culprit.decision;
  options.to = end_of_story(run_log, found.failure);
  options.failure = found.crash ? "" : failing_text(found.failure);
  options.blocked = waits_forever(found.failure);
  explanation.decisive = culprit.decision;
  explanation.passing = culprit.passing;
  explanation.table = step_table(run_log, found.tape.names, options);
  if (!culprit.decision) return explanation;
  explanation.verdict = verdict_of(culprit, found.tape);
  if (*culprit.decision >= run_log.turns().size()) return explanation;
  const RunLog::Turn& turn = run_log.turns()[*culprit.decision];
  if (turn.chosen) explanation.first = party(run_log, *turn.chosen, how.stacks);
  if (turn.passed_over) {
    explanation.second = party(run_log, *turn.passed_over, how.stacks);
  }
  if (culprit.passing != nullptr) {
    explanation.passing_table =
        passing_text(*culprit.passing, turn, found.tape.names, how.all_steps);
  }
  return explanation;
}

}  // namespace fermata::sim
