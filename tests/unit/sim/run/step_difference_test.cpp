// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/step_difference.hpp"

#include <gtest/gtest.h>

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>
#include <fermata/sim/run/runner.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace fermata::sim::detail {
namespace {

using Hashes = std::vector<std::uint64_t>;

TEST(FirstDifference, IsCountedFromOne) {
  EXPECT_EQ(first_difference(Hashes{1, 2, 3}, Hashes{1, 2, 3}), 0u);
  EXPECT_EQ(first_difference(Hashes{1, 2, 3}, Hashes{1, 5, 3}), 2u);
  EXPECT_EQ(first_difference(Hashes{1, 2}, Hashes{1, 2, 3}), 3u);
  EXPECT_EQ(first_difference(Hashes{}, Hashes{}), 0u);
}

StepAccount some_account() {
  StepAccount account;
  account.who = "+1 ms 'a' of 'main', suspended at a.cpp:7 (f)";
  account.items = {{1, "goes on as 'a'", {}}, {2, "makes ready 'b' (1)", {"f() at a.cpp:9"}}};
  account.decisions = {"+0.5 ms 'b' runs before 'a'"};
  return account;
}

TEST(StepAccount, IsReadAsItIsWritten) {
  const StepAccount written = some_account();
  std::stringstream file;
  written.write(file);
  const StepAccount read = StepAccount::read(file);
  EXPECT_EQ(read.who, written.who);
  EXPECT_EQ(read.decisions, written.decisions);
  ASSERT_EQ(read.items.size(), 2u);
  EXPECT_EQ(read.items[1].identity, 2u);
  EXPECT_EQ(read.items[1].text, written.items[1].text);
  EXPECT_EQ(read.items[1].stack, written.items[1].stack);
  std::istringstream nothing("");
  EXPECT_TRUE(StepAccount::read(nothing).items.empty());
}

TEST(StepAccount, DifferencesAreTold) {
  StepAccount other = some_account();
  other.items[1] = {3, "ends 'a'", {"g() at a.cpp:12"}};
  EXPECT_EQ(difference_text(7, some_account(), other),
            "the first step that differs is step 7\n"
            "first: +1 ms 'a' of 'main', suspended at a.cpp:7 (f)\n"
            "  it makes ready 'b' (1)\n"
            "    in f() at a.cpp:9\n"
            "second: +1 ms 'a' of 'main', suspended at a.cpp:7 (f)\n"
            "  it ends 'a'\n"
            "    in g() at a.cpp:12\n"
            "what was not calm before:\n"
            "  +0.5 ms 'b' runs before 'a'\n");
  other.items.pop_back();
  EXPECT_NE(difference_text(7, some_account(), other).find("nothing more happens in this step"),
            std::string::npos);
}

TEST(StepProbe, SeesOneStepOfARun) {
  Program program;
  program.body = [](World&) {
    auto first = spawn("first", [] { suspend(); });
    await(first);
  };
  Runner runner(program, "fifo", {.faults = FaultSet::none()});
  const std::vector<std::uint64_t> steps = runner.steps_of(1, false);
  ASSERT_GE(steps.size(), 3u);
  EXPECT_EQ(runner.steps_of(1, true), steps);
  const StepAccount begin = runner.account_of(1, false, 1);
  EXPECT_NE(begin.who.find("+0 ms 'main' of 'main', spawned at "), std::string::npos) << begin.who;
  std::string all;
  for (const StepAccount::Item& item : begin.items) all += item.text + '\n';
  EXPECT_NE(all.find("begins 'main'\n"), std::string::npos) << all;
  EXPECT_NE(all.find("spawns 'first'\n"), std::string::npos) << all;
  EXPECT_NE(all.find("gives way as 'main' at tests/unit/sim/run/step_difference_test.cpp:"),
            std::string::npos)
      << all;
  const StepAccount shifted = runner.account_of(1, true, 1);
  ASSERT_EQ(shifted.items.size(), begin.items.size());
  for (std::size_t i = 0; i < begin.items.size(); ++i) {
    EXPECT_EQ(shifted.items[i].identity, begin.items[i].identity) << begin.items[i].text;
  }
  EXPECT_TRUE(runner.account_of(1, false, 1'000).items.empty());
}

}  // namespace
}  // namespace fermata::sim::detail
