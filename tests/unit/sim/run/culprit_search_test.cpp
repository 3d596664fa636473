// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/culprit_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fermata/runtime.hpp>

#include "examples/lost_update/lost_update.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/report/explanation.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/shrinker.hpp"
#include "tests/support/deposits.hpp"

namespace fermata::sim {
namespace {

using test::program_of;
using test::race;

FoundFailure smallest(const Program& program) {
  ExploreOptions options;
  options.strategy = "random";
  options.check_determinism = 0;
  const ExploreResult result = explore(options, program);
  return shrink(program, {}, result.found.value().tape).value().found;
}

TEST(Culprit, IsTheDecisionAfterWhichTheFailureIsCertain) {
  const Program program = program_of(race);
  const FoundFailure found = smallest(program);
  const Culprit culprit = find_culprit(program, {}, found.tape);
  ASSERT_EQ(culprit.decision, 0u);
  ASSERT_EQ(culprit.reseeded.size(), 2u);
  EXPECT_LT(culprit.reseeded[0].failed, culprit.reseeded[0].runs);
  EXPECT_EQ(culprit.reseeded[1].failed, culprit.reseeded[1].runs);
}

// The failure needs both, and the draw comes last.
TEST(Culprit, IsThePickAndNotTheDrawThatIsAsGood) {
  const Program program = program_of([](World&) {
    int last = 0;
    const auto first = spawn("first", [&] { last = 1; });
    const auto second = spawn("second", [&] { last = 2; });
    await(first);
    await(second);
    const bool unlucky = random(2) == 1;
    EXPECT_FALSE(last == 1 && unlucky);
  });
  const FoundFailure found = smallest(program);
  ASSERT_EQ(found.tape.decisions.size(), 2u);
  ASSERT_FALSE(found.tape.decisions[1].is_pick);
  const Culprit culprit = find_culprit(program, {}, found.tape);
  EXPECT_EQ(culprit.decision, 0u);
  EXPECT_NE(culprit.passing, nullptr);
}

TEST(Culprit, IsTheDrawWhereNoOrderMatters) {
  const Program program = program_of([](World&) { EXPECT_NE(random(4), 3u); });
  EXPECT_EQ(find_culprit(program, {}, smallest(program).tape).decision, 0u);
}

TEST(Culprit, HasTheRunWithoutItBesideIt) {
  const Program program = program_of(race);
  const FoundFailure found = smallest(program);
  const Culprit culprit = find_culprit(program, {}, found.tape);
  ASSERT_NE(culprit.passing, nullptr);
  EXPECT_TRUE(culprit.passing->turns().empty());
  EXPECT_EQ(culprit.passing->steps().back().ending, RunLog::Ending::Ends);
}

TEST(Culprit, IsNobodyWhereProductionFails) {
  const Program program = program_of([](World&) { EXPECT_TRUE(false); });
  const FoundFailure found = smallest(program);
  EXPECT_FALSE(find_culprit(program, {}, found.tape).decision);
}

TEST(Culprit, StaysWithinItsRuns) {
  const Program program = program_of(race);
  const FoundFailure found = smallest(program);
  EXPECT_LE(find_culprit(program, {}, found.tape, {.runs = 12}).runs, 12u);
  EXPECT_TRUE(find_culprit(program, {}, found.tape, {.runs = 2}).reseeded.empty());
}

TEST(Culprit, FollowsRunsThatAreDrawnAnewNoFurtherThanItIsTold) {
  int longest = 0;
  const Program program = program_of([&](World&) {
    EXPECT_NE(random(2), 1u);
    for (int step = 0; step < 3'000; ++step) {
      longest = std::max(longest, step);
      suspend();
    }
  });
  const FoundFailure found = smallest(program);
  longest = 0;
  CulpritLimits limits;
  limits.steps_of_run = 100;
  const Culprit culprit = find_culprit(program, {}, found.tape, limits);
  EXPECT_EQ(culprit.decision, 0u);
  EXPECT_NE(culprit.passing, nullptr);  // That one goes to its end.
  EXPECT_EQ(longest, 2'999);
  EXPECT_LT(culprit.reseeded.at(0).failed, culprit.reseeded.at(0).runs);
}

TEST(Explanation, NamesBothSidesOfTheRace) {
  const Program program = program_of(race);
  const FoundFailure found = smallest(program);
  const Explanation explanation = explain(found, find_culprit(program, {}, found.tape));
  ASSERT_TRUE(explanation.first);
  ASSERT_TRUE(explanation.second);
  EXPECT_EQ(explanation.first->coroutine, "second");
  EXPECT_FALSE(explanation.first->begun);
  EXPECT_EQ(explanation.second->coroutine, "first");
  EXPECT_TRUE(explanation.second->begun);
  EXPECT_NE(explanation.second->place.find("lost_update.hpp:"), std::string::npos);
  EXPECT_NE(explanation.table.find("> 'second' runs before 'first'   <== this decides"),
            std::string::npos)
      << explanation.table;
  EXPECT_FALSE(explanation.passing_table.empty());
}

}  // namespace
}  // namespace fermata::sim
