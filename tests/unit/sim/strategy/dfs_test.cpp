// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/dfs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/random.hpp"
#include "tests/support/schedule_model.hpp"

namespace fermata::sim {
namespace {

using test::ScheduleModel;

struct Search {
  std::uint64_t runs = 0;
  std::set<std::vector<std::size_t>> orders;
  std::string coverage;
  std::vector<std::string> names;
};

Search search(const ScheduleModel& model, const char* name = "dfs",
              std::uint64_t most = 1'000'000) {
  const auto dfs = make_strategy(name);
  Search result;
  while (!dfs->is_exhausted() && result.runs < most) {
    ++result.runs;
    result.orders.insert(model.run(*dfs, result.runs));
    result.names.push_back(dfs->name());
    dfs->end_run({});
  }
  result.coverage = dfs->coverage();
  return result;
}

std::string all(std::uint64_t count, const char* what) {
  return "all " + std::to_string(count) + " " + what + "; the world was held calm, without faults";
}

/// The first of all orders that come from `order` by exchanging neighbours that are independent.
std::vector<std::size_t> representative(const ScheduleModel& model,
                                        const std::vector<std::size_t>& order) {
  std::vector<std::size_t> next(model.tasks.size());
  std::vector<Step> left;
  for (const std::size_t task : order) {
    left.push_back(Step{task, model.uses(task, next[task]++), model.opaque, Step::kNoPick});
  }
  std::vector<std::size_t> result;
  while (!left.empty()) {
    std::size_t best = left.size();
    for (std::size_t i = 0; i < left.size(); ++i) {
      bool first = true;
      for (std::size_t j = 0; j < i; ++j) first = first && !dependent(left[j], left[i]);
      if (first && (best == left.size() || left[i].path < left[best].path)) best = i;
    }
    result.push_back(left[best].path);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return result;
}

ScheduleModel some_model(std::uint64_t seed, std::size_t tasks, std::size_t most_steps) {
  Random random(seed);
  ScheduleModel model;
  for (std::size_t task = 0; task < tasks; ++task) {
    model.tasks.emplace_back(1 + random.below(most_steps));
    for (test::Variables& step : model.tasks.back()) {
      if (random.below(2) == 0) step.push_back(random.below(3));
    }
  }
  for (std::size_t task = 1; task < tasks; ++task) {
    if (random.below(3) != 0) continue;
    const std::size_t waker = random.below(task);
    model.woken_by[task] = {waker, random.below(model.tasks[waker].size())};
  }
  return model;
}

TEST(Dfs, RunsEveryScheduleOnceWhenStepsMayHaveUsedEverything) {
  struct Case {
    std::size_t tasks, steps;
    std::uint64_t schedules;  // (tasks * steps)! / steps! ^ tasks
  };
  for (const Case& each : {Case{1, 5, 1}, Case{2, 3, 20}, Case{3, 2, 90}, Case{4, 2, 2520},
                           Case{3, 3, 1680}, Case{2, 7, 3432}}) {
    ScheduleModel model = ScheduleModel::independent(each.tasks, each.steps);
    model.opaque = true;
    const Search found = search(model);
    EXPECT_EQ(found.runs, each.schedules);
    EXPECT_EQ(found.orders.size(), each.schedules);
    EXPECT_EQ(found.coverage, all(each.schedules, "schedules"));
  }
}

TEST(Dfs, RunsOneScheduleOfEachClass) {
  EXPECT_EQ(search(ScheduleModel::independent(4, 6)).coverage, all(1, "classes of schedules"));
  // The last steps of four tasks are the only ones that have something in common: 4!
  ScheduleModel last = ScheduleModel::independent(4, 6);
  for (auto& task : last.tasks) task[5] = {0};
  const Search ends = search(last);
  EXPECT_EQ(ends.coverage, all(24, "classes of schedules"));
  EXPECT_LE(ends.runs, 48u);
  // Two pairs of tasks, each with something of its own, twice: C(4, 2) ^ 2.
  ScheduleModel pairs = ScheduleModel::independent(4, 6);
  for (std::size_t task = 0; task < 4; ++task) {
    pairs.tasks[task][1] = {task / 2};
    pairs.tasks[task][4] = {task / 2};
  }
  const Search both = search(pairs);
  EXPECT_EQ(both.coverage, all(36, "classes of schedules"));
  EXPECT_LE(both.runs, 72u);
  // Everything has to do with everything: classes are schedules.
  ScheduleModel one = ScheduleModel::independent(3, 2);
  for (auto& task : one.tasks) task.assign(2, {0});
  EXPECT_EQ(search(one).coverage, all(90, "classes of schedules"));
}

TEST(Dfs, MissesNoClassAndRepeatsNone) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    ScheduleModel model = some_model(seed, 2 + seed % 3, 3);
    const Search reduced = search(model);
    std::set<std::vector<std::size_t>> classes;
    model.opaque = true;
    const Search full = search(model);
    model.opaque = false;
    for (const auto& order : full.orders) classes.insert(representative(model, order));
    EXPECT_EQ(reduced.coverage, all(classes.size(), "classes of schedules")) << seed;
    EXPECT_LE(reduced.runs, 2 * classes.size()) << seed;
    std::set<std::vector<std::size_t>> found;
    for (const auto& order : reduced.orders) found.insert(representative(model, order));
    EXPECT_EQ(found, classes) << seed;
  }
}

TEST(Dfs, SaysNotAllWhenItWasCutOff) {
  const Search found = search(ScheduleModel::independent(3, 3), "dfs", 1);
  EXPECT_EQ(found.coverage, all(1, "classes of schedules"));
  ScheduleModel opaque = ScheduleModel::independent(3, 3);
  opaque.opaque = true;
  EXPECT_EQ(search(opaque, "dfs", 1'679).coverage,
            "1679 schedules, not all; the world was held calm, without faults");
}

// Of 2 tasks with m steps each, the schedules with few picks that are not the head of the queue.
TEST(Dfs, KeepsWithinItsBound) {
  ScheduleModel model = ScheduleModel::independent(2, 4);
  const Search all_of_them = search(model, "dfs:100");
  EXPECT_EQ(all_of_them.runs, 70u);
  for (const char* name : {"dfs:1", "dfs:2", "dfs:3"}) {
    const Search found = search(model, name);
    const auto bound = static_cast<std::size_t>(name[4] - '0');
    EXPECT_EQ(found.runs, found.orders.size());
    EXPECT_EQ(found.coverage, "all " + std::to_string(found.runs) + " schedules, with at most " +
                                  name[4] +
                                  " picks that are not production's; the world was held "
                                  "calm, without faults");
    std::set<std::vector<std::size_t>> expected;
    for (std::size_t i = 0; i < all_of_them.names.size(); ++i) {
      const std::string& picks = all_of_them.names[i];
      const auto ones = std::count(picks.begin() + static_cast<std::ptrdiff_t>(picks.find('=')),
                                   picks.end(), '1');
      if (static_cast<std::size_t>(ones) > bound) continue;
      const auto again = make_strategy(picks);
      expected.insert(model.run(*again, 1));
    }
    EXPECT_EQ(found.orders, expected);
  }
}

TEST(Dfs, TellsHowToRunOneAgain) {
  ScheduleModel model = ScheduleModel::independent(3, 2);
  model.opaque = true;
  const auto dfs = make_strategy("dfs");
  EXPECT_EQ(dfs->name(), "dfs");
  for (int run = 0; run < 90; ++run) {
    const std::vector<std::size_t> order = model.run(*dfs, 1);
    EXPECT_EQ(model.run(*dfs, 2), order);
    const auto again = make_strategy(dfs->name());
    EXPECT_EQ(again->name(), dfs->name());
    EXPECT_EQ(model.run(*again, 3), order);
    again->end_run({});
    EXPECT_TRUE(again->is_exhausted());
    dfs->end_run({});
  }
  EXPECT_TRUE(dfs->is_exhausted());
}

TEST(Dfs, SaysSoWhenTheProgramIsAnotherOneEachTime) {
  const auto dfs = make_strategy("dfs");
  ScheduleModel model = ScheduleModel::independent(2, 2);
  model.opaque = true;
  model.run(*dfs, 1);
  dfs->end_run({});
  ScheduleModel::independent(3, 2).run(*dfs, 1);
  dfs->end_run({});
  EXPECT_TRUE(dfs->is_exhausted());
  EXPECT_NE(dfs->coverage().find("not all; the same picks led to another run"), std::string::npos)
      << dfs->coverage();
}

TEST(Dfs, VariesNothingElse) {
  const auto dfs = make_strategy("dfs");
  dfs->begin_run(3);
  EXPECT_EQ(dfs->draw(backend::RandomStream::Network, 1, 1'000'000), 0u);
  EXPECT_EQ(dfs->draw_rarely(backend::RandomStream::Fault, 1, 2, Odds{1, 1}), 0u);
}

}  // namespace
}  // namespace fermata::sim
