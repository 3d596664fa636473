// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutines that a strategy runs and that are nothing but lists of steps: for counting schedules
// and odds without a runtime.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "fermata/sim/base/key.hpp"
#include "fermata/sim/strategy/races.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::test {

/// What a step uses: numbers of shared variables, which it writes.
using Variables = std::vector<std::uint64_t>;

struct ScheduleModel {
  std::vector<std::vector<Variables>> tasks;
  /// Each step may have used everything.
  bool opaque = false;
  /// Tasks that can run only when a step of another one, (task, step), has woken them.
  std::map<std::size_t, std::pair<std::size_t, std::size_t>> woken_by = {};

  /// A model of `tasks` tasks of `steps` steps each, which share nothing.
  static ScheduleModel independent(std::size_t tasks, std::size_t steps) {
    return {std::vector<std::vector<Variables>>(tasks, std::vector<Variables>(steps))};
  }

  [[nodiscard]] static constexpr std::uint64_t path(std::size_t task) {
    return sim::key_of(7, task);
  }

  [[nodiscard]] static std::uint64_t own(std::size_t task) {
    return (path(task) & ~sim::Footprint::kFlags) | sim::Footprint::kWrote;
  }

  [[nodiscard]] sim::Uses uses(std::size_t task, std::size_t step) const {
    sim::Uses result = {own(task)};
    for (const std::uint64_t variable : tasks[task][step]) {
      result.push_back(((variable + 1) << 8) | sim::Footprint::kWrote);
    }
    for (const auto& [woken, waker] : woken_by) {
      if (waker == std::pair(task, step)) result.push_back(own(woken));
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  /// One run; which task made each step. A task that has made a step is last in the queue.
  std::vector<std::size_t> run(sim::Strategy& strategy, std::uint64_t seed,
                               std::size_t most_steps = ~std::size_t{0}) const {
    strategy.begin_run(seed);
    const bool told = strategy.news() != sim::StepNews::None;
    std::vector<std::size_t> next(tasks.size());
    std::vector<std::size_t> queue;
    for (std::size_t task = 0; task < tasks.size(); ++task) {
      if (!woken_by.contains(task)) queue.push_back(task);
    }
    if (told) {
      for (const std::size_t task : queue) strategy.spawned(1, path(task));
    }
    std::vector<std::size_t> order;
    while (!queue.empty() && order.size() < most_steps) {
      std::vector<std::uint64_t> paths;
      for (const std::size_t task : queue) paths.push_back(path(task));
      const std::size_t chosen = queue.size() > 1 ? strategy.pick(sim::Candidates(paths)) : 0;
      picks += queue.size() > 1;
      const std::size_t task = queue[chosen];
      queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(chosen));
      order.push_back(task);
      const sim::Uses used = uses(task, next[task]);
      for (const auto& [woken, waker] : woken_by) {
        if (waker == std::pair(task, next[task])) queue.push_back(woken);
      }
      if (told) strategy.end_step(path(task), sim::Footprint{used, opaque});
      if (++next[task] < tasks[task].size()) queue.push_back(task);
    }
    return order;
  }

  /// Picks of the last run.
  mutable std::uint64_t picks = 0;
};

/// Whether a run in which the tasks made their steps in this order has the bug that is looked for.
using Fails = std::function<bool(const std::vector<std::size_t>& order)>;

/// The number of the first run that fails, from 1; 0 when none of `most` does.
inline std::uint64_t runs_to_find(const ScheduleModel& model, sim::Strategy& strategy,
                                  std::uint64_t most, const Fails& fails, std::uint64_t seed = 1) {
  for (std::uint64_t run = 1; run <= most; ++run) {
    model.picks = 0;
    if (fails(model.run(strategy, sim::key_of(seed, run)))) return run;
    strategy.end_run(sim::RunSummary{model.picks, true});
  }
  return 0;
}

/// How many of `runs` runs fail.
inline std::uint64_t count_failures(const ScheduleModel& model, sim::Strategy& strategy,
                                    std::uint64_t runs, const Fails& fails,
                                    std::uint64_t seed = 1) {
  std::uint64_t found = 0;
  for (std::uint64_t run = 0; run < runs; ++run) {
    model.picks = 0;
    found += fails(model.run(strategy, sim::key_of(seed, run)));
    strategy.end_run(sim::RunSummary{model.picks, true});
  }
  return found;
}

}  // namespace fermata::test
