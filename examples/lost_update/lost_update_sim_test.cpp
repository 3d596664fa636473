// SPDX-License-Identifier: Apache-2.0

// The same race in the simulator, which finds the order in which a deposit is lost. This test
// fails, and is meant to: tests/meta checks what it prints, and that its seeds replay.

#include <fermata/sim.hpp>

#include "examples/lost_update/lost_update.hpp"

SIM_TEST(Account, DepositsAreNotLost) { EXPECT_EQ(deposit_twice(), 2); }
