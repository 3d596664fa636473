// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/waits/hopeless.hpp"
#include "fermata/sim/waits/wait_report.hpp"

namespace fermata::sim {

namespace {

detail::Explanation explain_now(const Runtime& runtime) {
  const detail::WaitSource source{&runtime, nullptr, false};
  return detail::explain_waits({&source, 1}, detail::Ending::Going, 0);
}

}  // namespace

std::string wait_graph_json(const Runtime& runtime) { return explain_now(runtime).json; }

std::string wait_graph_text(const Runtime& runtime) { return explain_now(runtime).text; }

namespace detail {

Explanation explain_waits(std::span<const WaitSource> sources, Ending ending, std::uint64_t steps) {
  const WaitGraph graph = make_wait_graph(sources, ending == Ending::Quiet, steps);
  const Diagnosis diagnosis = diagnose(graph, ending == Ending::Endless);
  Explanation explanation{wait_text(graph, diagnosis), wait_json(graph, diagnosis)};
  if (ending != Ending::Endless) return explanation;
  const std::vector<std::size_t> hopeless = find_hopeless(graph);
  for (const std::size_t each : hopeless) {
    FERMATA_ASSERT(graph.coroutines[each].state == WaitGraph::State::Waiting);
    explanation.hopeless += fmt::format("{}'{}'", explanation.hopeless.empty() ? "" : ", ",
                                        graph.coroutines[each].label);
  }
  const auto about_them = [&](const Finding& finding) {
    return finding.kind != WaitClass::Starvation &&
           std::all_of(finding.waiters.begin(), finding.waiters.end(), [&](std::size_t waiter) {
             return std::find(hopeless.begin(), hopeless.end(), waiter) != hopeless.end();
           });
  };
  const auto& findings = diagnosis.findings;
  const auto first = std::find_if(findings.begin(), findings.end(), about_them);
  if (first != findings.end()) explanation.reason = finding_text(graph, *first);
  return explanation;
}

Failure limit_failure(std::string limit, Explanation waits) {
  FERMATA_ASSERT(!limit.empty());
  FERMATA_ASSERT(waits.reason.empty() || !waits.hopeless.empty());
  Failure failure;
  failure.by_limit = true;
  failure.verdict = Verdict::Liveness;
  if (waits.hopeless.empty()) {
    failure.message = std::move(limit);
  } else {
    failure.verdict = Verdict::Deadlock;
    failure.message = fmt::format("partial deadlock: {} can never go on", waits.hopeless);
    failure.beneath = fmt::format("stopped by a limit: {}\n", limit);
    if (!waits.reason.empty()) failure.beneath += waits.reason + '\n';
  }
  failure.explanation = std::move(waits.text);
  failure.wait_graph = std::move(waits.json);
  return failure;
}

std::string explain_leaks(const Runtime& runtime) {
  constexpr std::size_t kShown = 10;
  const auto& events = runtime.kernel().live_events;
  std::string text;
  if (!events.empty()) {
    text = fmt::format("CORE-EV-10: {} events outlive the run, first: {}\n", events.size(),
                       events.first()->info_with_place());
    std::size_t shown = 0;
    for (const Event* each = events.first(); each != nullptr && shown < kShown;
         each = each->next_live(), ++shown) {
      text += fmt::format("  {}, {} references\n", each->info_with_place(), each->ref_count());
    }
  }
  if (const std::size_t active = runtime.active_event_count(); active != 0) {
    text += fmt::format("CORE-EV-10: {} events are active after the run\n", active);
  }
  if (const std::size_t contexts = runtime.scheduler().contexts().stats().live; contexts != 0) {
    text += fmt::format("CORE-SC-14: {} contexts outlive the run\n", contexts);
  }
  return text;
}

}  // namespace detail
}  // namespace fermata::sim
