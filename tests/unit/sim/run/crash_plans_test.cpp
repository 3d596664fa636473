// SPDX-License-Identifier: Apache-2.0

// Machines that may crash do so in most runs, while they are busy, and in the same way whenever a
// run is repeated.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/explore.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

/// A program that waits so many times, for so long, and is then idle for an hour.
struct Life {
  int waits;
  Duration each;
};

struct Crashes {
  int runs = 0;
  int crashed = 0;  // Of them, in their first life.
  int busy = 0;     // Of those, while they did not idle yet.
};

Crashes crashes_of(const Life& life, const std::string& strategy, std::uint64_t runs,
                   const std::string& faults = "all") {
  Crashes seen;
  ExploreOptions options;
  options.runs = runs;
  options.strategy = strategy;
  options.faults = faults;
  const ExploreResult result = explore(options, [&](World& world) {
    int lives = 0;
    bool idle = false;
    bool was_idle = false;
    world
        .node("machine",
              [&] {
                was_idle = std::exchange(idle, false);
                if (++lives > 1) return;
                for (int i = 0; i < life.waits; ++i) delay(life.each);
                idle = true;
                delay(1h);
              })
        .may_crash();
    world.run();
    ++seen.runs;
    seen.crashed += lives > 1 ? 1 : 0;
    seen.busy += lives > 1 && !was_idle ? 1 : 0;
  });
  EXPECT_FALSE(result.found) << result.found->failure.message;
  return seen;
}

TEST(CrashPlans, StrikeInMoreThanEverySecondRunWhereTheProgramIsBusy) {
  for (const Life& life : {Life{5, 1ms}, Life{50, 100us}, Life{3, 10us}, Life{400, 5s}}) {
    const Crashes seen = crashes_of(life, "portfolio", 400);
    EXPECT_GE(seen.crashed * 2, seen.runs) << life.waits << " waits";
    EXPECT_LT(seen.crashed, seen.runs) << life.waits << " waits";
    EXPECT_GE(seen.busy * 2, seen.crashed) << life.waits << " waits";
  }
}

TEST(CrashPlans, AreMadeByEveryStrategyThatDraws) {
  for (const char* strategy : {"random", "fifo", "urw", "pos", "pct:3", "delay:2"}) {
    const Crashes seen = crashes_of({20, 250us}, strategy, 200);
    EXPECT_GE(seen.crashed * 2, seen.runs) << strategy;
    EXPECT_GE(seen.busy * 2, seen.crashed) << strategy;
  }
  EXPECT_EQ(crashes_of({20, 250us}, "calm", 20).crashed, 0);
  EXPECT_EQ(crashes_of({20, 250us}, "random", 50, "delay,pause").crashed, 0);
}

/// A server that may crash, whose runs are of different lengths, and a client.
Program of_two_machines() {
  Program program;
  program.body = [](World& world) {
    world
        .service("server",
                 [] {
                   while (true) delay(1ms + random(3'000) * 1us);
                 })
        .may_crash();
    world
        .node("client",
              [] {
                for (auto i = random(20); i < 20; ++i) delay(random(5) * 1ms);
              })
        .may_crash();
    world.run();
  };
  return program;
}

TEST(CrashPlans, AreFixedByTheSeedAndTheNameOfTheStrategy) {
  const Program program = of_two_machines();
  for (const char* strategy : {"portfolio", "random", "pct:3"}) {
    Runner runner(program, strategy, {});
    bool learnt = false;
    for (std::uint64_t run = 0; run < 60; ++run) {
      const std::uint64_t seed = run_seed(7, run);
      const RunResult result = runner.run(seed);
      Runner again(program, runner.strategy(), {});
      EXPECT_TRUE(again.run(seed).same_run(result)) << runner.strategy();
      EXPECT_FALSE(runner.twin(seed, result)) << runner.strategy();
      learnt = learnt || runner.strategy().find(":waits=") != std::string::npos;
      runner.learn();
    }
    EXPECT_TRUE(learnt) << strategy;
  }
}

TEST(CrashPlans, AreOnTheTape) {
  const Program program = of_two_machines();
  Runner runner(program, "random", {});
  for (std::uint64_t run = 0; run < 60; ++run) {
    const RunResult result = runner.run(run_seed(9, run));
    const auto recorded = runner.decisions().log().recorded();
    Replay replay({recorded.begin(), recorded.end()}, result.draws, {}, ReplayMode::Strict);
    Runner other(program, "calm", {});
    EXPECT_TRUE(other.replay({}, replay).same_run(result));
    EXPECT_FALSE(replay.divergence());
    runner.learn();
  }
}

TEST(CrashPlans, AreNoBusinessOfAProgramThatMayNotCrash) {
  Program program;
  program.body = [](World&) { delay(1ms); };
  Runner runner(program, "random", {});
  runner.run(1);
  runner.learn();
  EXPECT_EQ(runner.strategy(), "random");
}

}  // namespace
}  // namespace fermata::sim
