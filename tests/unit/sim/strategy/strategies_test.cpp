// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/strategy/races.hpp"

namespace fermata::sim {
namespace {

constexpr std::array<std::uint64_t, 3> kThree = {10, 20, 30};

std::string refusal(std::string_view name) {
  try {
    static_cast<void>(make_strategy(name));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<std::size_t> picks(Strategy& strategy, std::uint64_t seed, int count) {
  std::vector<std::size_t> result;
  strategy.begin_run(seed);
  for (int i = 0; i < count; ++i) result.push_back(strategy.pick(Candidates(kThree)));
  strategy.end_run(RunSummary{static_cast<std::uint64_t>(count), false});
  return result;
}

TEST(Strategies, AreMadeByTheirNames) {
  for (const char* name : {"portfolio",
                           "fifo",
                           "random",
                           "calm",
                           "pct:1",
                           "pct:3",
                           "pct:64",
                           "pct:3:k=57",
                           "pos",
                           "pos:k=8",
                           "urw",
                           "urw:w=1f.3,a.20",
                           "delay:1",
                           "delay:64:k=9",
                           "dfs",
                           "dfs:2",
                           "dfs:at=0",
                           "dfs:at=0.2.0.1",
                           "dfs:3:at=1",
                           "random:waits=1f.3,a.20",
                           "fifo:waits=a.1",
                           "urw:w=1f.3:waits=a.20",
                           "pct:3:k=57:waits=a.2",
                           "pos:waits=a.2",
                           "delay:1:waits=a.2"}) {
    EXPECT_EQ(make_strategy(name)->name(), name);
  }
}

TEST(Strategies, RefuseOtherNames) {
  EXPECT_EQ(
      refusal("pct:0"),
      "'pct:0' is not a valid strategy; expected portfolio, random, urw, pos, pct:D, delay:D, dfs, "
      "dfs:N, fifo or calm, with D from 1 to 64 and N from 1");
  for (const char* name :
       {"",           "rand",        "Random",  "pct",       "pct:",        "pct:x",
        "pct:-1",     "pct:3x",      "pct:65",  "pct:3:57",  "pct:3:k=",    "pct:3:k=0",
        "pct:3:k=5x", "portfolio:2", "pos:",    "pos:k=",    "pos:3",       "posk=3",
        "urw:",       "urw:w=",      "urw:w=1", "urw:w=1.",  "urw:w=g.1",   "urw:w=1.2,",
        "urw2",       "delay",       "delay:0", "delay:65",  "delay:2:k=0", "dfs:",
        "dfs:0",      "dfs:x",       "dfs:at=", "dfs:at=1.", "dfs:at=-1",   "dfs:at=4294967296",
        "dfsx"}) {
    EXPECT_NE(refusal(name), "accepted") << name;
  }
  EXPECT_TRUE(refusal("portfolo").ends_with("; did you mean portfolio?"));
  EXPECT_TRUE(refusal("dealy:3").ends_with("; did you mean delay?"));
  EXPECT_NE(refusal("urw:w=1.4294967296"), "accepted");
  for (const char* name :
       {"random:waits=", "random:waits=a", "random:waits=a.0", "random:waits=g.1",
        "random:waits=a.1,", "calm:waits=a.1", "dfs:waits=a.1", "portfolio:waits=a.1"}) {
    EXPECT_NE(refusal(name), "accepted") << name;
  }
}

TEST(Strategies, DependOnTheSeedAlone) {
  for (const char* name : {"fifo", "random", "calm", "pct:3:k=40", "pos:k=40", "delay:2:k=40",
                           "urw:w=a.5,14.9,1e.2"}) {
    const auto one = make_strategy(name);
    const auto other = make_strategy(name);
    picks(*one, 1, 30);
    EXPECT_EQ(picks(*one, 2, 40), picks(*other, 2, 40)) << name;
  }
}

TEST(Strategies, DrawPlacesFromTheCourseThatWasSeen) {
  const auto random = make_strategy("random:waits=a.5");
  random->begin_run(1);
  std::set<std::uint64_t> places;
  for (int i = 0; i < 1'000; ++i) {
    places.insert(random->draw_place(backend::RandomStream::Fault, 1, 0xa, 1'000, {7, 8}));
  }
  EXPECT_EQ(places, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Strategies, LearnCoursesAndAreNotMisledByThoseThatWereCut) {
  const auto random = make_strategy("random");
  const auto after = [&](std::uint64_t length, bool cut) {
    const Course course{0xa, length, cut};
    random->begin_run(1);
    random->end_run({.courses = {&course, 1}});
    return random->name();
  };
  EXPECT_EQ(after(3, true), "random:waits=a.3");
  EXPECT_EQ(after(9, false), "random:waits=a.9");
  EXPECT_EQ(after(4, true), "random:waits=a.9");
  EXPECT_EQ(after(12, true), "random:waits=a.12");
  EXPECT_EQ(after(6, false), "random:waits=a.6");
  EXPECT_EQ(after(0, false), "random:waits=a.6");
}

TEST(Fifo, KeepsTheOrderAndVariesTheWorld) {
  const auto fifo = make_strategy("fifo");
  EXPECT_EQ(picks(*fifo, 3, 10), std::vector<std::size_t>(10, 0));
  std::set<std::uint64_t> latencies;
  for (int i = 0; i < 100; ++i)
    latencies.insert(fifo->draw(backend::RandomStream::Network, 1, 1'000'000));
  EXPECT_GT(latencies.size(), 90u);
}

TEST(Calm, VariesNothing) {
  const auto calm = make_strategy("calm");
  EXPECT_EQ(picks(*calm, 3, 10), std::vector<std::size_t>(10, 0));
  EXPECT_EQ(calm->draw(backend::RandomStream::Network, 1, 1'000'000), 0u);
  EXPECT_EQ(calm->draw_rarely(backend::RandomStream::Fault, 1, 2, Odds{1, 1}), 0u);
}

TEST(RandomStrategy, PicksEachCandidateAboutEquallyOften) {
  const auto random = make_strategy("random");
  std::array<int, 3> counts{};
  for (const std::size_t index : picks(*random, 9, 30'000)) ++counts[index];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(RandomStrategy, DrawsRarelyWithTheOdds) {
  const auto random = make_strategy("random");
  random->begin_run(4);
  int happened = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value =
        random->draw_rarely(backend::RandomStream::Fault, 1, 5, Odds{1, 10});
    EXPECT_LT(value, 5u);
    happened += value != 0;
  }
  EXPECT_NEAR(happened, 10'000, 400);
}

TEST(Pct, KeepsOneOrderOfPrioritiesAtDepthOne) {
  const auto pct = make_strategy("pct:1");
  std::set<std::size_t> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<std::size_t> chosen = picks(*pct, seed, 50);
    EXPECT_EQ(chosen, std::vector<std::size_t>(50, chosen.front()));
    first.insert(chosen.front());
  }
  EXPECT_EQ(first.size(), 3u);
}

TEST(Pct, ChangesAsOftenAsItsDepthSays) {
  const auto pct = make_strategy("pct:3:k=50");
  int changed_twice = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<std::size_t> chosen = picks(*pct, seed, 50);
    int changes = 0;
    for (std::size_t i = 1; i < chosen.size(); ++i) changes += chosen[i] != chosen[i - 1];
    EXPECT_LE(changes, 2);
    changed_twice += changes == 2;
  }
  EXPECT_GT(changed_twice, 100);
}

TEST(Pct, LearnsHowLongRunsAre) {
  const auto pct = make_strategy("pct:2");
  picks(*pct, 1, 7);
  EXPECT_EQ(pct->name(), "pct:2:k=7");
  picks(*pct, 2, 5);
  EXPECT_EQ(pct->name(), "pct:2:k=7");
  picks(*pct, 3, 9);
  EXPECT_EQ(pct->name(), "pct:2:k=9");
}

TEST(Pct, LetsEverybodyRunInTheEnd) {
  const auto pct = make_strategy("pct:1:k=1");
  const std::vector<std::size_t> chosen = picks(*pct, 1, 2'000);
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 3u);
}

TEST(Pos, KeepsThePriorityOfWhoHasNotRun) {
  const auto pos = make_strategy("pos");
  std::set<std::size_t> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<std::size_t> chosen = picks(*pos, seed, 50);
    EXPECT_EQ(chosen, std::vector<std::size_t>(50, chosen.front()));
    first.insert(chosen.front());
  }
  EXPECT_EQ(first.size(), 3u);
}

// 10 runs and 20 waits; once 10 has touched what 20 is expected to, 20's priority is drawn anew.
TEST(Pos, DrawsAnewForWhoIsInARace) {
  const auto pos = make_strategy("pos:k=1000");
  const auto changes = [&](std::uint64_t what) {
    int changed = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      constexpr std::array<std::uint64_t, 2> kTwo = {20, 30};
      const Uses shared = {64 | Footprint::kWrote};
      const Uses other = {what | Footprint::kWrote};
      pos->begin_run(seed);
      pos->end_step(20, Footprint{shared, false});
      const std::size_t before = pos->pick(Candidates(kTwo));
      pos->end_step(10, Footprint{other, false});
      changed += pos->pick(Candidates(kTwo)) != before;
    }
    return changed;
  };
  EXPECT_EQ(changes(128), 0);
  EXPECT_GT(changes(64), 40);
}

TEST(Urw, CountsTheStepsOfDescendants) {
  const auto urw = make_strategy("urw");
  urw->begin_run(1);
  urw->spawned(0, 10);
  urw->spawned(10, 20);
  for (const std::uint64_t path : {10u, 10u, 20u, 20u, 20u}) urw->end_step(path, {});
  urw->end_run({});
  EXPECT_EQ(urw->name(), "urw:w=a.5,14.3");
}

TEST(Urw, PicksInProportionToTheStepsThatAreLeft) {
  const auto urw = make_strategy("urw:w=a.6,14.3,1e.1");
  std::array<int, 3> counts{};
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    urw->begin_run(seed);
    ++counts[urw->pick(Candidates(kThree))];
  }
  EXPECT_NEAR(counts[0], 12'000, 400);
  EXPECT_NEAR(counts[1], 6'000, 400);
  EXPECT_NEAR(counts[2], 2'000, 300);
}

TEST(Delay, DelaysAsOftenAsItMay) {
  const auto delay = make_strategy("delay:2:k=50");
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    int delays = 0;
    for (const std::size_t chosen : picks(*delay, seed, 50)) delays += chosen != 0;
    EXPECT_GE(delays, 1);  // Whoever is delayed waits for two others.
    EXPECT_LE(delays, 4);
  }
}

TEST(Portfolio, RunsRandomEverySecondTime) {
  const auto portfolio = make_strategy("portfolio");
  std::set<std::string> others;
  for (int run = 0; run < 200; ++run) {
    portfolio->begin_run(1);
    const std::string name = portfolio->name();
    if (run % 2 == 0) {
      EXPECT_EQ(name, "random");
    } else {
      others.insert(name.substr(0, name.find(':')));
    }
    portfolio->end_run(RunSummary{5, true});
  }
  EXPECT_EQ(others, (std::set<std::string>{"delay", "fifo", "pct", "pos", "urw"}));
}

TEST(Portfolio, SaysWhoHadHowManyRunsAndWhatTheyFound) {
  const auto portfolio = make_strategy("portfolio");
  for (int run = 0; run < 100; ++run) {
    portfolio->begin_run(1);
    const bool is_random = portfolio->name() == "random";
    portfolio->end_run(RunSummary{5, is_random, run == 3});
  }
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;
  for (const StrategyShare& share : portfolio->shares()) {
    runs += share.runs;
    failures += share.failures;
    EXPECT_EQ(share.new_runs, share.name == "random" ? 50u : 0u) << share.name;
  }
  EXPECT_EQ(runs, 100u);
  EXPECT_EQ(failures, 1u);
  EXPECT_TRUE(make_strategy("random")->shares().empty());
}

TEST(Portfolio, MovesSharesTowardWhatIsNew) {
  const auto portfolio = make_strategy("portfolio");
  int pos = 0;
  int others = 0;
  for (int run = 0; run < 4'000; ++run) {
    portfolio->begin_run(1);
    const bool is_pos = portfolio->name().starts_with("pos");
    if (run % 2 == 1) ++(is_pos ? pos : others);
    portfolio->end_run(RunSummary{5, is_pos});
  }
  EXPECT_GT(pos, 3 * others / 2);
  EXPECT_GT(others, 400);
}

// Ten coroutines of ten steps each; the bug needs the last one to run to its end before any other
// one has begun. Random must win a race of 10 against 90 picks at odds near 10^-10; PCT needs the
// victim to have the highest priority: 1 in 10.
TEST(Pct, FindsWhatRandomMisses) {
  const auto found = [](Strategy& strategy) {
    int hits = 0;
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
      std::vector<std::uint64_t> ready = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
      strategy.begin_run(seed);
      int run_alone = 0;
      while (run_alone < 10 && ready[strategy.pick(Candidates(ready))] == 10) ++run_alone;
      hits += run_alone == 10;
    }
    return hits;
  };
  EXPECT_EQ(found(*make_strategy("random")), 0);
  EXPECT_NEAR(found(*make_strategy("pct:1")), 100, 40);
}

}  // namespace
}  // namespace fermata::sim
