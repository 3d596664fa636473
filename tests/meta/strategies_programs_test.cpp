// SPDX-License-Identifier: Apache-2.0

// What dfs covers of real programs, how a failure that a member of the portfolio found comes back,
// and that nobody waits forever under a strategy that is not fair.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/sim.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/tape/random.hpp"

namespace fermata::sim {
namespace {

using Body = std::function<void(World&)>;

ExploreResult explore_with(const std::string& strategy, const Body& body,
                           std::uint64_t runs = 1'000'000) {
  ExploreOptions options;
  options.strategy = strategy;
  options.runs = runs;
  return explore(options, body);
}

std::string all(std::uint64_t count, const char* what) {
  return "all " + std::to_string(count) + " " + what + "; the world was held calm, without faults";
}

/// Runs `count` coroutines that call `step` with their number and with numbers from 0, between
/// awaits.
Body tasks(std::size_t count, std::size_t steps,
           std::function<void(std::size_t task, std::size_t step)> step, bool announced) {
  return [=](World& world) {
    if (announced) world.sharing_is_announced();
    std::vector<Coroutine<>> all;
    for (std::size_t task = 0; task < count; ++task) {
      all.push_back(spawn(std::to_string(task), [=] {
        for (std::size_t i = 0; i < steps; ++i) {
          if (i > 0) suspend();
          step(task, i);
        }
      }));
    }
    when_all_settled(all);
  };
}

void nothing(std::size_t /*task*/, std::size_t /*step*/) {}

// What plain variables its steps share nobody knows: nothing is left out.
TEST(DfsOfPrograms, RunsEveryScheduleUnlessToldOtherwise) {
  EXPECT_EQ(explore_with("dfs", tasks(2, 3, nothing, false)).coverage, all(20, "schedules"));
  const ExploreResult three = explore_with("dfs", tasks(3, 2, nothing, false));
  EXPECT_EQ(three.coverage, all(90, "schedules"));
  EXPECT_EQ(three.runs, 90u);
  EXPECT_EQ(three.distinct_runs, 90u);
}

// 4 coroutines of 6 steps have 24! / 6!^4 schedules, more than 2 * 10^12. Only their ends have
// something in common, at which the one that waits for all of them counts: 4! classes.
TEST(DfsOfPrograms, LeavesOutWhatOnlyExchangesIndependentSteps) {
  const ExploreResult ends = explore_with("dfs", tasks(4, 6, nothing, true));
  EXPECT_EQ(ends.coverage, all(24, "classes of schedules"));
  EXPECT_LE(ends.runs, 48u);
}

// Of four coroutines two and two share a variable in two steps of six: C(4, 2)^2 orders of those,
// times the orders of the ends.
TEST(DfsOfPrograms, CountsTheClassesOfAFewConflicts) {
  const auto share = [](std::size_t task, std::size_t step) {
    if (step == 1 || step == 3) touches(task < 2 ? "left" : "right");
  };
  const ExploreResult found = explore_with("dfs", tasks(4, 6, share, true));
  EXPECT_EQ(found.coverage, all(36 * 24, "classes of schedules"));
  EXPECT_LE(found.runs, 2u * 36 * 24);
}

TEST(DfsOfPrograms, TellsReadsFromWrites) {
  const auto read = [](std::size_t /*task*/, std::size_t step) {
    if (step == 0) reads("balance");
  };
  EXPECT_EQ(explore_with("dfs", tasks(3, 2, read, true)).coverage, all(6, "classes of schedules"));
  const auto write = [](std::size_t /*task*/, std::size_t step) {
    if (step == 0) touches("balance");
  };
  EXPECT_EQ(explore_with("dfs", tasks(3, 2, write, true)).coverage,
            all(36, "classes of schedules"));
}

Body lost_update(bool announced) {
  return [announced](World& world) {
    if (announced) world.sharing_is_announced();
    int balance = 0;
    const auto deposit = [&] {
      touches("balance");
      const int seen = balance;
      suspend();
      touches("balance");
      balance = seen + 1;
    };
    std::vector<Coroutine<>> all = {spawn("a", deposit), spawn("b", deposit)};
    when_all_settled(all);
    EXPECT_EQ(balance, 2);
  };
}

TEST(DfsOfPrograms, FindsTheLostUpdate) {
  for (const bool announced : {false, true}) {
    const ExploreResult result = explore_with("dfs", lost_update(announced));
    ASSERT_TRUE(result.found);
    EXPECT_EQ(result.runs, 1u);  // Production's order has it.
    EXPECT_NE(result.coverage.find("not all"), std::string::npos) << result.coverage;
  }
}

// The promise does not hold for what depends on the time, so it is not relied upon.
TEST(DfsOfPrograms, LeavesNothingOutOnceTimeTakesPart) {
  const auto sleep = [](std::size_t /*task*/, std::size_t /*step*/) {
    delay(std::chrono::milliseconds(1));
  };
  const ExploreResult announced = explore_with("dfs", tasks(2, 2, sleep, true));
  const ExploreResult plain = explore_with("dfs", tasks(2, 2, sleep, false));
  EXPECT_EQ(announced.runs, plain.runs);
  EXPECT_EQ(announced.distinct_runs, plain.distinct_runs);
}

TEST(DfsOfPrograms, EndsBeforeItsRunsAreUsedUp) {
  EXPECT_EQ(explore_with("dfs", tasks(2, 2, nothing, false), 1'000).runs, 6u);
  const ExploreResult cut = explore_with("dfs", tasks(3, 3, nothing, false), 100);
  EXPECT_EQ(cut.runs, 100u);
  EXPECT_EQ(cut.coverage, "100 schedules, not all; the world was held calm, without faults");
}

/// Three coroutines that write and read three variables in an order that shows in the result, and
/// wait for each other's end, as `seed` has it. `result` gets what came out.
Body made_up(std::uint64_t seed, bool announced, std::function<void(std::uint64_t)> result) {
  return [=](World& world) {
    if (announced) world.sharing_is_announced();
    Random random(seed);
    std::uint64_t variables[3] = {};
    std::uint64_t seen = 0;
    std::vector<Coroutine<>> all;
    for (std::uint64_t task = 0; task < 3; ++task) {
      std::vector<std::uint64_t> steps(1 + random.below(3));
      for (std::uint64_t& step : steps) step = random.below(8);
      all.push_back(spawn(std::to_string(task), [&, task, steps] {
        std::uint64_t mine = 0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
          if (i > 0) suspend();
          const std::uint64_t which = steps[i] % 3;
          if (steps[i] < 3) {
            touches(std::to_string(which));
            variables[which] = variables[which] * 7 + task + 1;
          } else if (steps[i] < 6) {
            reads(std::to_string(which));
            mine = mine * 31 + variables[which];
          } else if (task > 0) {
            await(all[task - 1]);
          }
        }
        touches("seen");
        seen += key_of(task, mine);
      }));
    }
    when_all_settled(all);
    result(key_of(key_of(seen, variables[0]), key_of(variables[1], variables[2])));
  };
}

TEST(DfsOfPrograms, MissesNoOutcomeOfWhatItLeavesOut) {
  std::uint64_t left_out = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::set<std::uint64_t> everything;
    std::set<std::uint64_t> reduced;
    const ExploreResult whole = explore_with(
        "dfs", made_up(seed, false, [&](std::uint64_t one) { everything.insert(one); }));
    const ExploreResult classes =
        explore_with("dfs", made_up(seed, true, [&](std::uint64_t one) { reduced.insert(one); }));
    EXPECT_EQ(reduced, everything) << seed;
    EXPECT_TRUE(whole.coverage.starts_with("all ")) << whole.coverage;
    EXPECT_TRUE(classes.coverage.starts_with("all ")) << classes.coverage;
    EXPECT_LE(classes.runs, whole.runs) << seed;
    left_out += whole.runs - classes.runs;
  }
  EXPECT_GT(left_out, 1'000u);
}

TEST(DfsOfPrograms, HearsAnnouncementsInSimulationOnly) {
  EXPECT_THROW(touches("balance"), UsageError);
  EXPECT_THROW(reads("balance"), UsageError);
}

// Every failure of a member comes back by its seed and the name of that member alone.
TEST(PortfolioOfPrograms, TellsWhichMemberFoundAFailure) {
  const Body race = [](World&) {
    bool done = false;
    std::vector<Coroutine<>> all;
    all.push_back(spawn("long", [&] {
      for (int i = 0; i < 23; ++i) suspend();
      done = true;
    }));
    all.push_back(spawn("short", [&] { EXPECT_FALSE(done); }));
    when_all_settled(all);
  };
  std::set<std::string> members;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    ExploreOptions options;
    options.seed = seed << 32;
    options.runs = 2'000;
    const ExploreResult found = explore(options, race);
    ASSERT_TRUE(found.found);
    const Tape& tape = found.found->tape;
    members.insert(tape.strategy.substr(0, 3));
    EXPECT_NE(tape.strategy, "portfolio");
    ExploreOptions again = options;
    again.seed = tape.seed;
    again.strategy = tape.strategy;
    again.runs = 1;
    const ExploreResult once = explore(again, race);
    ASSERT_TRUE(once.found) << tape.strategy;
    EXPECT_EQ(once.found->tape.trace_hash, tape.trace_hash) << tape.strategy;
  }
  EXPECT_FALSE(members.contains("ran"));
}

// Who waits in a loop for somebody else: a strategy that is not fair must become so.
TEST(FairSuffix, LetsEverybodyGoOnInTheEnd) {
  const Body spin = [](World&) {
    bool done = false;
    std::vector<Coroutine<>> all;
    all.push_back(spawn("waits", [&] {
      while (!done) suspend();
    }));
    all.push_back(spawn("works", [&] {
      for (int i = 0; i < 5; ++i) suspend();
      done = true;
    }));
    when_all_settled(all);
  };
  for (const char* name : {"pct:1", "pct:3", "pos", "portfolio", "urw", "delay:2"}) {
    ExploreOptions options;
    options.strategy = name;
    options.runs = 60;
    options.world.step_limit = 20'000;
    const ExploreResult result = explore(options, spin);
    EXPECT_FALSE(result.found) << name << ": " << result.found->failure.message;
  }
}

}  // namespace
}  // namespace fermata::sim
