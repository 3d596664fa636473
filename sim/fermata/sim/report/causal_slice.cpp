// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/causal_slice.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kToWhoWoke = 1;
constexpr std::uint64_t kToAnEndedChild = 2;
constexpr std::uint64_t kToWhatItDidBefore = 3;

}  // namespace

CausalSlice::CausalSlice(const RunLog& run_log, const std::vector<std::size_t>& effects)
    : run_log_(run_log),
      previous_(run_log.steps().size()),
      ended_children_(run_log.steps().size()),
      distances_(run_log.steps().size(), kNever),
      next_(run_log.steps().size()) {
  find_previous_steps();
  find_ended_children();
  spread(effects);
}

std::optional<std::uint64_t> CausalSlice::distance(std::size_t step) const {
  FERMATA_ASSERT(step < distances_.size());
  if (distances_[step] == kNever) return std::nullopt;
  return distances_[step];
}

std::vector<std::size_t> CausalSlice::path_from(std::size_t step) const {
  FERMATA_ASSERT(step < next_.size());
  if (distances_[step] == kNever) return {};
  std::vector<std::size_t> path{step};
  while (distances_[path.back()] > 0) {
    FERMATA_ASSERT(distances_[next_[path.back()]] < distances_[path.back()]);
    path.push_back(next_[path.back()]);
  }
  return path;
}

void CausalSlice::find_previous_steps() {
  std::vector<std::optional<std::size_t>> of_lane(run_log_.lanes().size());
  std::map<std::string_view, std::size_t> of_machine;
  for (std::size_t i = 0; i < run_log_.steps().size(); ++i) {
    const std::size_t lane = run_log_.steps()[i].lane;
    FERMATA_ASSERT(lane < of_lane.size());
    const std::string_view machine = run_log_.lanes()[lane].machine;
    previous_[i] = of_lane[lane];
    const auto before = of_machine.find(machine);
    const bool starts_anew = !of_lane[lane] && !run_log_.lanes()[lane].parent;
    if (starts_anew && before != of_machine.end()) previous_[i] = before->second;
    of_lane[lane] = i;
    of_machine.insert_or_assign(machine, i);
  }
}

void CausalSlice::find_ended_children() {
  std::vector<std::vector<std::size_t>> of_parent(run_log_.lanes().size());
  for (std::size_t i = 0; i < run_log_.steps().size(); ++i) {
    const RunLog::Step& step = run_log_.steps()[i];
    FERMATA_ASSERT(step.lane < of_parent.size());
    ended_children_[i] = std::exchange(of_parent[step.lane], {});
    const bool ends = step.ending == RunLog::Ending::Ends || step.ending == RunLog::Ending::Fails;
    const std::optional<std::size_t> parent = run_log_.lanes()[step.lane].parent;
    if (ends && parent) of_parent[*parent].push_back(i);
  }
}

std::optional<std::size_t> CausalSlice::kept(std::size_t ordinal) const {
  if (ordinal < run_log_.forgotten()) return std::nullopt;
  FERMATA_ASSERT(ordinal - run_log_.forgotten() < run_log_.steps().size());
  return ordinal - run_log_.forgotten();
}

std::vector<CausalSlice::Cause> CausalSlice::causes_of(std::size_t step) const {
  FERMATA_ASSERT(step < previous_.size());
  const RunLog::Step& effect = run_log_.steps()[step];
  std::vector<Cause> causes;
  if (previous_[step]) causes.push_back({*previous_[step], kToWhatItDidBefore});
  for (const std::size_t child : ended_children_[step]) causes.push_back({child, kToAnEndedChild});
  const auto add = [&](std::optional<std::size_t> ordinal) {
    const std::optional<std::size_t> cause = ordinal ? kept(*ordinal) : std::nullopt;
    if (cause) causes.push_back({*cause, kToWhoWoke});
  };
  add(effect.woken_by);
  for (const MessageLog::Id id : effect.received) {
    if (const Message* const message = run_log_.message_log().find(id)) add(message->step);
  }
  return causes;
}

// Dijkstra's algorithm, from the effects back.
void CausalSlice::spread(const std::vector<std::size_t>& effects) {
  using Reached = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
  const auto reach = [&](std::size_t step, std::uint64_t distance, std::size_t next) {
    FERMATA_ASSERT(step < distances_.size());
    if (distance >= distances_[step]) return;
    distances_[step] = distance;
    next_[step] = next;
    open.emplace(distance, step);
  };
  for (const std::size_t effect : effects) reach(effect, 0, effect);
  while (!open.empty()) {
    const auto [distance, step] = open.top();
    open.pop();
    if (distance > distances_[step]) continue;
    for (const Cause& cause : causes_of(step)) reach(cause.step, distance + cause.distance, step);
  }
}

}  // namespace fermata::sim
