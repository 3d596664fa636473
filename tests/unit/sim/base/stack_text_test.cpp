// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/stack_text.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/run/runner.hpp"

namespace fermata::sim {
namespace {

// This file is compiled with debug information in every build.

[[gnu::noinline]] std::vector<std::string> who_is_here() {
  std::vector<std::string> lines = stack_text(present_stack());
  return lines;  // Not a tail call.
}

[[gnu::noinline]] void wait_in_the_middle() {
  suspend();
  touches("the end of this function, so that its frame stays");
}

bool names(const std::vector<std::string>& lines, const std::string& what) {
  for (const std::string& line : lines) {
    if (line.find(what) != std::string::npos) return true;
  }
  return false;
}

TEST(StackText, NamesTheFunctionsThatLeadHere) {
  const std::vector<std::string> lines = who_is_here();
  EXPECT_TRUE(names(lines, "who_is_here"));
  EXPECT_TRUE(names(lines, "stack_text_test.cpp:"));
}

TEST(StackText, IsLookedUpOnce) {
  const std::string path = std::getenv("PATH");
  std::vector<std::vector<std::string>> looks;
  for (int i = 0; i < 2; ++i) {
    looks.push_back(who_is_here());
    ::setenv("PATH", "/there/is/no/addr2line", 1);
  }
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(names(looks.back(), "who_is_here"));
  EXPECT_EQ(looks.front(), looks.back());
}

TEST(StackText, IsEmptyWhenNoNamesAreWanted) {
  look_names_up(false);
  const std::vector<std::string> lines = who_is_here();
  look_names_up(true);
  EXPECT_TRUE(lines.empty());
  EXPECT_TRUE(names(who_is_here(), "who_is_here"));
}

TEST(StackText, OfASuspendedCoroutineNamesWhereItIs) {
  Program program;
  program.body = [](World&) {
    const auto early = spawn("early", wait_in_the_middle);
    const auto late = spawn("late", wait_in_the_middle);
    await(early);
    await(late);
  };
  Runner runner(program, "random", WorldOptions{});
  runner.set_recording(true);
  std::vector<std::string> lines;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    runner.run(seed);
    for (const RunLog::Turn& turn : runner.run_log()->turns()) {
      if (!turn.chosen || !turn.chosen->begun) continue;
      for (const std::string& line : stack_text(turn.chosen->stack)) lines.push_back(line);
    }
  }
  EXPECT_TRUE(names(lines, "wait_in_the_middle"));
}

}  // namespace
}  // namespace fermata::sim
