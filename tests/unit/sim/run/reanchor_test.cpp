// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/reanchor.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>
#include <fermata/sim/run/explore.hpp>

#include "tests/support/deposits.hpp"

namespace fermata::sim {
namespace {

using test::program_of;

TEST(Reanchor, CountsTheDecisionsThatReportsShow) {
  const Program program = program_of([](World&) {
    int struck = 0;
    for (int i = 0; i < 20; ++i) struck += FERMATA_FAULT("journal.torn") ? 1 : 0;
    EXPECT_EQ(struck, 0);
  });
  ExploreOptions options;
  options.strategy = "random";
  options.faults = "point";
  const ExploreResult result = explore(options, program);
  ASSERT_TRUE(result.found);
  const Tape& tape = result.found->tape;
  const std::size_t shown = count_shown(tape);
  ASSERT_LT(shown, tape.decisions.size());
  const auto again = reanchor(program, options.world, tape);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->matched, shown);
  EXPECT_EQ(again->summary, fmt::format("{0} of {0} decisions matched", shown));
}

}  // namespace
}  // namespace fermata::sim
