// SPDX-License-Identifier: Apache-2.0

// Whatever the order, everybody eats. With the bug put back, the report of the deadlock names who
// holds which fork and who waits for it.

#include <fermata/sim.hpp>

#include "examples/dining_philosophers/dining_philosophers.hpp"

namespace {

SIM_TEST(DiningPhilosophers, AllEat) {
  Table table(3);
  std::vector<fermata::Coroutine<>> philosophers;
  for (std::size_t seat = 0; seat < 3; ++seat) {
    philosophers.push_back(fermata::spawn("philosopher " + std::to_string(seat),
                                          [&table, seat] { table.dine(seat, 2); }));
  }
  for (const auto& philosopher : philosophers) fermata::await(philosopher);
  EXPECT_EQ(table.meals_eaten(), 6);
}

}  // namespace
