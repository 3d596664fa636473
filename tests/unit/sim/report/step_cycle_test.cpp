// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/step_cycle.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>

#include <algorithm>
#include <bit>
#include <string>

#include "fermata/sim/report/kept_steps.hpp"
#include "fermata/sim/report/run_data.hpp"
#include "fermata/sim/report/step_table.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using test::watched_run;

/// Two coroutines that let each other go first forever, until the limit of steps.
test::WatchedRun livelock(std::uint64_t steps) {
  WorldOptions options{.faults = FaultSet::none()};
  options.step_limit = steps;
  return watched_run(
      [](World&) {
        suspend();
        auto one = spawn("one", [] {
          for (;;) suspend();
        });
        auto two = spawn("two", [] {
          for (;;) suspend();
        });
        await(one);
        await(two);
      },
      options);
}

TEST(StepCycle, IsFoundWhereARunRepeatsItselfUntilItsEnd) {
  const auto run = livelock(1'000);
  const auto cycle = find_cycle(*run.run_log, run.run_log->steps().size());
  ASSERT_TRUE(cycle);
  EXPECT_EQ(cycle->length, 2u);
  EXPECT_GT(cycle->count, 480u);
}

TEST(StepCycle, IsNotFoundInARunThatComesToAnEnd) {
  const auto run = watched_run([](World&) {
    for (int i = 0; i < 20; ++i) suspend();
    suspend();
  });
  EXPECT_FALSE(find_cycle(*run.run_log, run.run_log->steps().size()));
}

TEST(StepCycle, IsPrintedOnceWithACount) {
  const std::string table = step_table(*livelock(1'000).run_log, {});
  EXPECT_LT(std::count(table.begin(), table.end(), '\n'), 12) << table;
  EXPECT_NE(table.find("the next 2 steps repeat 49"), std::string::npos) << table;
}

TEST(StepCycle, IsPrintedInFullWhenEveryStepIsAskedFor) {
  const std::string table = step_table(*livelock(1'000).run_log, {}, {.lines = kAllLines});
  EXPECT_GT(std::count(table.begin(), table.end(), '\n'), 990);
  EXPECT_EQ(table.find(" repeat "), std::string::npos);
}

TEST(KeptSteps, LeaveThePageOfALivelockSmall) {
  const auto run = livelock(150'000);
  const KeptSteps kept(*run.run_log, true);
  EXPECT_LT(kept.steps().size(), 50u);
  ASSERT_EQ(kept.gaps().size(), 1u);
  EXPECT_EQ(kept.steps().size() + kept.gaps()[0].steps, run.run_log->steps().size());
  EXPECT_LT(run_data(run.report, true).size(), 100'000u);
}

TEST(KeptSteps, AreTheBeginningAndTheEndOfALongRun) {
  const auto run = watched_run([](World&) {
    for (unsigned i = 0; i < 8'000; ++i) {  // Nothing comes three times in a row.
      if (std::popcount(i) % 2 == 0) suspend();
      suspend();
    }
  });
  const KeptSteps kept(*run.run_log, true);
  const std::size_t count = run.run_log->steps().size();
  ASSERT_EQ(kept.steps().size(), KeptSteps::kMostAtBegin + KeptSteps::kMostAtEnd);
  EXPECT_TRUE(kept.has(0));
  EXPECT_FALSE(kept.has(KeptSteps::kMostAtBegin));
  EXPECT_TRUE(kept.has(count - 1));
  EXPECT_EQ(kept.index_of(count - 1), kept.steps().size() - 1);
}

}  // namespace
}  // namespace fermata::sim
