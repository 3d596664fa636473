// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/check/explain.hpp"

#include <fmt/format.h>

#include "fermata/runtime/core/runtime.hpp"
#include "fermata/sim/check/wait_report.hpp"

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
  return {wait_text(graph, diagnosis), wait_json(graph, diagnosis)};
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
