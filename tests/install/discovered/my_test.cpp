// SPDX-License-Identifier: Apache-2.0
#include <fermata/sim.hpp>

TEST(Plain, IsNotSimulated) {}

SIM_TEST(My, Passes) { fermata::delay(std::chrono::hours(1)); }

SIM_TEST(My, Skips) { GTEST_SKIP() << "no such device"; }

SIM_TEST(My, Fails) { ADD_FAILURE() << "as planned"; }

SIM_TEST(My, DISABLED_IsLeftOut) { ADD_FAILURE(); }
