// SPDX-License-Identifier: Apache-2.0

// What each strategy promises: bugs that it finds as often as its paper says, and one that it
// misses. The programs are lists of steps; how often a bug is hit is known in closed form.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fermata/sim/strategy/make_strategy.hpp"
#include "tests/support/schedule_model.hpp"

namespace fermata::sim {
namespace {

using test::count_failures;
using test::Fails;
using test::runs_to_find;
using test::ScheduleModel;

std::vector<std::size_t> tasks_of(const std::string& order) {
  std::vector<std::size_t> tasks;
  for (const char task : order) tasks.push_back(static_cast<std::size_t>(task - 'A'));
  return tasks;
}

Fails begins_with(const std::string& tasks) {
  return [wanted = tasks_of(tasks)](const std::vector<std::size_t>& order) {
    return order.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), order.begin());
  };
}

/// Five standard deviations of what comes from so many independent runs.
void expect_odds(std::uint64_t found, std::uint64_t runs, double odds, const std::string& what) {
  const double expected = static_cast<double>(runs) * odds;
  EXPECT_NEAR(static_cast<double>(found), expected, 5 * std::sqrt(expected) + 1) << what;
}

/// One coroutine of 24 steps and one of a single step, 25 events; the bug needs that one to be
/// last.
struct Uneven {
  ScheduleModel model{{std::vector<test::Variables>(24), std::vector<test::Variables>(1)}};
  Fails fails = [](const std::vector<std::size_t>& order) { return order.back() == 1; };
};

TEST(UnevenRace, IsMissedByRandom) {
  const Uneven race;
  EXPECT_EQ(count_failures(race.model, *make_strategy("random"), 10'000, race.fails), 0u);
}

TEST(UnevenRace, IsFoundByUrwAsOftenAsAnyOtherInterleaving) {
  const Uneven race;
  const auto urw = make_strategy("urw");
  EXPECT_NE(runs_to_find(race.model, *urw, 1'000, race.fails), 0u);
  urw->end_run({});
  expect_odds(count_failures(race.model, *urw, 10'000, race.fails), 10'000, 1.0 / 25, "urw");
}

// What waits for n others waits with odds of 1 / (n + 1) where random has 2^-n.
TEST(UnevenRace, IsFoundByPos) {
  const Uneven race;
  const auto pos = make_strategy("pos");
  EXPECT_NE(runs_to_find(race.model, *pos, 1'000, race.fails), 0u);
  expect_odds(count_failures(race.model, *pos, 10'000, race.fails), 10'000, 1.0 / 25, "pos");
}

// Where every step is in a race with the one that waits, its priority is drawn anew each time.
TEST(UnevenRace, IsMissedByPosWhenEachStepIsInARace) {
  Uneven race;
  race.model.tasks[0].assign(24, {0});
  race.model.tasks[1].assign(1, {0});
  race.model.tasks[1].insert(race.model.tasks[1].begin(), {0});  // Tells what it is going to use.
  const Fails fails = [](const std::vector<std::size_t>& order) {
    return order.front() == 1 && order.back() == 1;
  };
  EXPECT_EQ(count_failures(race.model, *make_strategy("pos"), 10'000, fails), 0u);
}

// Z-AP-08, chain: k coroutines of one step each, which have to run in one order of k!.
TEST(Chain, IsFoundOnceInAllItsOrders) {
  for (const char* name : {"random", "pct:1", "urw", "pos"}) {
    double orders = 1;
    for (std::size_t k = 2; k <= 5; ++k) {
      orders *= static_cast<double>(k);
      const ScheduleModel chain = ScheduleModel::independent(k, 1);
      std::string backwards;
      for (std::size_t i = k; i > 0; --i) backwards += static_cast<char>('A' + i - 1);
      const auto strategy = make_strategy(name);
      chain.run(*strategy, 99);
      strategy->end_run(RunSummary{k - 1, true});
      expect_odds(count_failures(chain, *strategy, 20'000, begins_with(backwards)), 20'000,
                  1 / orders, name + std::to_string(k));
    }
  }
}

// Z-AP-08, ping-pong: two coroutines between which control has to change at depth - 1 given picks
// of 8.
struct PingPong {
  std::size_t depth;
  const char* order;
};
constexpr PingPong kPingPong[] = {{2, "AAB"}, {3, "AABA"}, {4, "AABAB"}, {5, "AABABA"}};

TEST(PingPong, IsFoundByPctOfItsDepth) {
  double picks = 1;
  for (const PingPong& each : kPingPong) {
    picks *= 8;
    const auto pct = make_strategy("pct:" + std::to_string(each.depth) + ":k=8");
    const auto runs = std::min<std::uint64_t>(200'000, static_cast<std::uint64_t>(2'000 * picks));
    const std::uint64_t found =
        count_failures(ScheduleModel::independent(2, 4), *pct, runs, begins_with(each.order));
    expect_odds(found, runs, 1 / (2 * picks), each.order);
    EXPECT_GT(found, 0u) << each.order;
  }
}

TEST(PingPong, IsMissedByPctOfASmallerDepth) {
  for (const PingPong& each : kPingPong) {
    const auto pct = make_strategy("pct:" + std::to_string(each.depth - 1) + ":k=8");
    EXPECT_EQ(
        count_failures(ScheduleModel::independent(2, 4), *pct, 20'000, begins_with(each.order)), 0u)
        << each.order;
  }
}

// Production's order is ABABAB; whoever runs twice in a row does so because the other was delayed.
constexpr PingPong kDelays[] = {{1, "ABBA"}, {2, "ABBAAB"}, {3, "ABBAABBA"}};

TEST(Delays, AreFoundByAsMany) {
  const double odds[] = {1.0 / 12, 2.0 / (12 * 12), 6.0 / (12 * 12 * 12)};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto delay = make_strategy("delay:" + std::to_string(kDelays[i].depth) + ":k=12");
    expect_odds(count_failures(ScheduleModel::independent(2, 6), *delay, 50'000,
                               begins_with(kDelays[i].order)),
                50'000, odds[i], kDelays[i].order);
  }
}

TEST(Delays, AreMissedByFewer) {
  for (const PingPong& each : kDelays) {
    const std::string fewer = each.depth == 1 ? "fifo" : "delay:" + std::to_string(each.depth - 1);
    EXPECT_EQ(count_failures(ScheduleModel::independent(2, 6), *make_strategy(fewer), 20'000,
                             begins_with(each.order)),
              0u)
        << each.order;
  }
}

TEST(Dfs, FindsWithItsBoundAndMissesBelow) {
  for (const PingPong& each : kDelays) {
    const ScheduleModel model = ScheduleModel::independent(2, 6);
    const auto hunt = [&](std::size_t bound) {
      const auto dfs = make_strategy("dfs:" + std::to_string(bound));
      bool found = false;
      while (!dfs->is_exhausted()) {
        found = found || begins_with(each.order)(model.run(*dfs, 1));
        dfs->end_run({});
      }
      return found;
    };
    // A pick that delays is one that is not production's: as many as there are delays.
    EXPECT_TRUE(hunt(each.depth)) << each.order;
    EXPECT_FALSE(each.depth > 1 && hunt(each.depth - 1)) << each.order;
    EXPECT_FALSE(begins_with(each.order)(model.run(*make_strategy("fifo"), 1))) << each.order;
  }
}

// What a bug needs, from the easy to the hard.
struct Bug {
  const char* name;
  ScheduleModel model;
  Fails fails;
};

std::vector<Bug> bugs() {
  std::vector<Bug> all;
  all.push_back({"lost update", ScheduleModel::independent(2, 2),
                 [](const std::vector<std::size_t>& order) { return order[0] != order[1]; }});
  all.push_back({"chain of 3", ScheduleModel::independent(3, 1), begins_with("CBA")});
  all.push_back({"chain of 4", ScheduleModel::independent(4, 1), begins_with("DCBA")});
  all.push_back({"chain of 5", ScheduleModel::independent(5, 1), begins_with("EDCBA")});
  all.push_back({"two changes", ScheduleModel::independent(2, 4), begins_with("AABA")});
  all.push_back({"four changes", ScheduleModel::independent(2, 6), begins_with("BBABAABA")});
  all.push_back({"three by turns", ScheduleModel::independent(3, 3), begins_with("CCBBA")});
  Uneven race;
  all.push_back({"uneven race", race.model, race.fails});
  ScheduleModel alone = ScheduleModel::independent(10, 10);
  all.push_back({"one before all", alone, begins_with("JJJJJJJJJJ")});
  return all;
}

/// The mean of many trials; 0 when one of them did not find it.
double mean_runs_to_find(const Bug& bug, const char* name, std::uint64_t most) {
  constexpr std::uint64_t kTrials = 60;
  std::uint64_t sum = 0;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    const std::uint64_t runs =
        runs_to_find(bug.model, *make_strategy(name), most, bug.fails, key_of(trial, 5));
    if (runs == 0) return 0;
    sum += runs;
  }
  return static_cast<double>(sum) / static_cast<double>(kTrials);
}

TEST(Portfolio, FindsEveryBugInAtMostTwiceTheRunsOfRandom) {
  for (const Bug& bug : bugs()) {
    const double portfolio = mean_runs_to_find(bug, "portfolio", 20'000);
    const double random = mean_runs_to_find(bug, "random", 20'000);
    EXPECT_GT(portfolio, 0) << bug.name;
    const double most = random > 0 ? 2 * random : 20'000;
    EXPECT_LE(portfolio, most) << bug.name;
  }
}

TEST(Portfolio, FindsWhatRandomMisses) {
  for (const Bug& bug : bugs()) {
    if (bug.name != std::string("uneven race") && bug.name != std::string("one before all")) {
      continue;
    }
    EXPECT_EQ(mean_runs_to_find(bug, "random", 1'000), 0) << bug.name;
    EXPECT_GT(mean_runs_to_find(bug, "portfolio", 2'000), 0) << bug.name;
  }
}

TEST(Strategies, GiveTheSameAnswersAgain) {
  for (const char* name :
       {"portfolio", "random", "urw", "pos", "pct:3", "delay:2", "fifo", "dfs", "dfs:2"}) {
    const auto one = make_strategy(name);
    const auto other = make_strategy(name);
    ScheduleModel model = ScheduleModel::independent(3, 4);
    model.tasks[0][1] = model.tasks[1][2] = {0};
    for (std::uint64_t run = 0; run < 200; ++run) {
      model.picks = 0;
      const std::vector<std::size_t> order = model.run(*one, run);
      EXPECT_EQ(model.run(*other, run), order) << name;
      // Begun anew before its end, and by its name: the same run again.
      EXPECT_EQ(model.run(*one, run), order) << name;
      EXPECT_EQ(model.run(*make_strategy(one->name()), run), order) << one->name();
      const RunSummary summary{model.picks / 4, run % 3 == 0};
      one->end_run(summary);
      other->end_run(summary);
    }
  }
}

}  // namespace
}  // namespace fermata::sim
