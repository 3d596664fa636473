// SPDX-License-Identifier: Apache-2.0

// What the tests of real schedulers explore: a test that passes, one that fails often, and one that
// fails when seven coroutines run in one of their 5,040 orders.

#include <fermata/sim.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace {

/// Numbers in the order in which as many coroutines came to write theirs.
std::vector<std::size_t> race_of(std::size_t runners, int pauses) {
  std::vector<std::size_t> order;
  std::vector<fermata::Coroutine<void>> running;
  for (std::size_t i = 0; i < runners; ++i) {
    running.push_back(fermata::spawn("runner " + std::to_string(i), [&order, i, pauses] {
      for (int pause = 0; pause < pauses; ++pause) fermata::suspend();
      order.push_back(i);
    }));
  }
  for (auto& runner : running) fermata::await(runner);
  return order;
}

}  // namespace

SIM_TEST(FleetSpecimen, Passes) { EXPECT_EQ(race_of(8, 200).size(), 8u); }

SIM_TEST(FleetSpecimen, FailsOften) { EXPECT_NE(race_of(3, 1).front(), 2u); }

SIM_TEST(FleetSpecimen, FailsRarely) {
  const std::vector<std::size_t> rare = {3, 6, 0, 5, 1, 4, 2};
  EXPECT_NE(race_of(rare.size(), 1), rare);
}
