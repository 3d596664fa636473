// SPDX-License-Identifier: Apache-2.0

// A failure that was printed comes back, wherever its line is pasted.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "fermata/sim/tape/tape.hpp"
#include "tests/meta/process.hpp"

namespace fermata::testing {
namespace {

/// A folder for the tapes of one test, which is removed with it.
class Replay : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string out() const { return "FERMATA_OUT=" + folder_ + " "; }
  [[nodiscard]] Finished explore(std::uint64_t seed) const {
    return run_shell(out() + "FERMATA_SEED=" + std::to_string(seed) + " FERMATA_RUNS=1000 " +
                     lost_update());
  }

  std::string folder_ = ::testing::TempDir() + "fermata_meta_" +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

// The canary: were this to pass, the harness would be blind.
TEST_F(Replay, TheCanaryFails) {
  const Finished finished = run_shell(out() + lost_update());
  EXPECT_EQ(finished.exit_code, 2) << finished.output;
  EXPECT_NE(finished.output.find("safety: examples/lost_update/lost_update_sim_test.cpp:"),
            std::string::npos)
      << finished.output;
}

TEST_F(Replay, TheCanaryPassesInTheOrderOfProduction) {
  for (const char* strategy : {"calm", "fifo"}) {
    const Finished finished =
        run_shell(out() + "FERMATA_STRATEGY=" + strategy + " FERMATA_RUNS=10000 " + lost_update());
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
  }
}

TEST_F(Replay, TheSameSeedIsTheSameExploration) {
  const Finished once = explore(12);
  const Finished again = explore(12);
  EXPECT_EQ(failure_part(once.output), failure_part(again.output));
  EXPECT_EQ(line_with(once.output, "reproduce: "), line_with(again.output, "reproduce: "));
}

TEST_F(Replay, ThePrintedCommandWorksAsTyped) {
  for (const char* strategy :
       {"portfolio", "random", "pct:2", "pct:3:k=20", "pos", "urw", "delay:2", "dfs", "dfs:3"}) {
    const Finished found = run_shell(out() + "FERMATA_STRATEGY=" + strategy + " " + lost_update());
    ASSERT_EQ(found.exit_code, 2) << found.output;
    const Finished again = run_shell(out() + line_with(found.output, "reproduce: "));
    EXPECT_EQ(again.exit_code, 2) << again.output;
    EXPECT_EQ(failure_part(again.output), failure_part(found.output));
  }
}

TEST_F(Replay, AHundredSeedsComeBackInOtherProcesses) {
  const char* const where_is_the_stack = "grep stack /proc/self/maps";
  ASSERT_NE(run_shell(where_is_the_stack).output, run_shell(where_is_the_stack).output)
      << "address randomisation is off: equal runs would prove little";
  const std::string elsewhere =
      "cd / && env -i MALLOC_PERTURB_=173 PADDING=" + std::string(5'000, 'x') + " " + out();
  std::set<std::string> seeds;
  for (std::uint64_t base = 1; seeds.size() < 100; ++base) {
    ASSERT_LT(base, 300u);
    const Finished found = explore(base);
    ASSERT_EQ(found.exit_code, 2) << found.output;
    const std::string command = line_with(found.output, "reproduce: ");
    const std::string run = command.substr(0, command.find(" FERMATA_FAULTS="));
    if (!seeds.insert(run).second) continue;
    const Finished again = run_shell(elsewhere + run + " " + lost_update());
    EXPECT_EQ(again.exit_code, 2) << again.output;
    EXPECT_EQ(failure_part(again.output), failure_part(found.output));
  }
}

TEST_F(Replay, TheTapeIsTheRun) {
  const Finished found = explore(3);
  const std::string tape = line_with(found.output, "tape: ");
  const Finished again = run_shell(out() + "FERMATA_REPLAY=" + tape + " " + lost_update());
  EXPECT_EQ(again.exit_code, 2) << again.output;
  EXPECT_EQ(failure_part(again.output), failure_part(found.output));
  const std::string pasted = line_with(again.output, "reproduce: ");
  EXPECT_EQ(failure_part(run_shell(pasted).output), failure_part(found.output));
}

TEST_F(Replay, TheShrunkTapeFailsInTheSameWay) {
  const Finished found = explore(3);
  const std::string tape = line_with(found.output, "shrunk tape: ");
  EXPECT_EQ(sim::load_tape(tape).decisions.size(), 1u) << found.output;
  const Finished again = run_shell(out() + "FERMATA_REPLAY=" + tape + " " + lost_update());
  EXPECT_EQ(again.exit_code, 2) << again.output;
  EXPECT_EQ(line_with(again.output, "  signature  "), line_with(found.output, "  signature  "));
}

TEST_F(Replay, ShrinksAndExplainsATapeWhenAsked) {
  const Finished found =
      run_shell(out() + "FERMATA_SHRINK=off FERMATA_EXPLAIN=off " + lost_update());
  EXPECT_TRUE(lines_with(found.output, "shrunk").empty()) << found.output;
  EXPECT_TRUE(lines_with(found.output, "steps:").empty()) << found.output;
  const std::string replay = out() + "FERMATA_REPLAY=" + line_with(found.output, "tape: ") + " ";
  const Finished plain = run_shell(replay + lost_update());
  EXPECT_TRUE(lines_with(plain.output, "shrunk").empty()) << plain.output;
  EXPECT_TRUE(lines_with(plain.output, "steps:").empty()) << plain.output;
  const Finished full = run_shell(replay + "FERMATA_SHRINK=on FERMATA_EXPLAIN=on " + lost_update());
  EXPECT_EQ(full.exit_code, 2) << full.output;
  EXPECT_EQ(sim::load_tape(line_with(full.output, "shrunk tape: ")).decisions.size(), 1u);
  EXPECT_NE(line_with(full.output, "  decides: ").find("'second' runs before 'first'"),
            std::string::npos)
      << full.output;
}

TEST_F(Replay, ATapeOfAnotherProgramDivergesAtItsFirstOtherDraw) {
  const std::string path = line_with(explore(3).output, "tape: ");
  sim::Tape tape = sim::load_tape(path);
  ASSERT_FALSE(tape.decisions.empty());
  tape.decisions.back().occurrence += 1;
  sim::save_tape(tape, path);

  const std::string replay = out() + "FERMATA_REPLAY=" + path + " ";
  const Finished strict = run_shell(replay + lost_update());
  EXPECT_EQ(strict.exit_code, 8) << strict.output;
  EXPECT_NE(strict.output.find("divergence: expected draw "), std::string::npos) << strict.output;
  EXPECT_NE(strict.output.find("; got draw "), std::string::npos) << strict.output;

  const Finished best = run_shell(replay + "FERMATA_REPLAY_MODE=best " + lost_update());
  const std::string all = std::to_string(count_shown(tape));
  const std::string all_but_one = std::to_string(count_shown(tape) - 1);
  EXPECT_NE(best.output.find(all_but_one + " of " + all + " decisions matched"), std::string::npos)
      << best.output;
}

TEST_F(Replay, ATapeOfAnotherProgramsTestIsRefused) {
  const std::string path = line_with(explore(3).output, "tape: ");
  sim::Tape tape = sim::load_tape(path);
  tape.test = "Account.Other";
  sim::save_tape(tape, path);
  const Finished finished = run_shell(out() + "FERMATA_REPLAY=" + path + " " + lost_update());
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_NE(
      finished.output.find(path + " is a tape of Account.Other, which this program does not have"),
      std::string::npos)
      << finished.output;
}

TEST_F(Replay, TheStepsAreWrittenOnDemand) {
  const Finished found = run_shell(out() + "FERMATA_TRACE=steps " + lost_update());
  EXPECT_TRUE(std::filesystem::exists(line_with(found.output, "trace: "))) << found.output;
}

}  // namespace
}  // namespace fermata::testing
