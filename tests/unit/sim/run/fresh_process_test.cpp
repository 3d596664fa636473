// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/fresh_process.hpp"

#include <gtest/gtest.h>

#include "fermata/base/error.hpp"

namespace fermata::sim::detail {
namespace {

using namespace std::chrono_literals;

TEST(RunSilently, WaitsForTheEnd) { EXPECT_TRUE(run_silently({"/bin/true"}, {}, 1min)); }

TEST(RunSilently, KillsWhatTakesTooLong) {
  EXPECT_FALSE(run_silently({"/bin/sleep", "1000"}, {}, 100ms));
}

TEST(RunSilently, SaysWhatCannotBeStarted) {
  EXPECT_THROW(run_silently({"/nowhere/at/all"}, {}), InputOutputError);
}

TEST(RunSilently, IsPatientWithARepetition) { EXPECT_GE(patience_with_repetition(), 1min); }

}  // namespace
}  // namespace fermata::sim::detail
