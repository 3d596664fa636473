// SPDX-License-Identifier: Apache-2.0

// Explorations in parts: shards that are merged, one that is interrupted and goes on, and a corpus
// that comes first.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "fermata/sim/tape/tape.hpp"
#include "tests/end_to_end/cli_specimens.hpp"

namespace fermata::testing {
namespace {

std::uint64_t wander() {
  auto other = fermata::spawn("other", [] {
    for (std::uint64_t i = fermata::random(5); i > 0; --i) fermata::suspend();
  });
  fermata::suspend();
  fermata::await(other);
  return fermata::random(1'000);
}

SIM_TEST(Specimen, DISABLED_Passes) { wander(); }
SIM_TEST(Specimen, DISABLED_Fails) { EXPECT_NE(wander(), 1u) << "as planned"; }

SIM_TEST(Specimen, DISABLED_LosesAnUpdate) {
  int balance = 0;
  const auto deposit = [&] {
    const int seen = balance;
    fermata::suspend();
    balance = seen + 1;
  };
  auto first = fermata::spawn("first", deposit);
  fermata::suspend();
  auto second = fermata::spawn("second", deposit);
  fermata::await(first);
  fermata::await(second);
  EXPECT_EQ(balance, 2);
}

/// Interrupts the tool once: as long as the file that INTERRUPT_ONCE names is not there.
SIM_TEST(Specimen, DISABLED_Interrupts) {
  if (wander() != 1) return;
  const char* once = std::getenv("INTERRUPT_ONCE");
  if (once == nullptr) return;
  const int file = ::open(once, O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return;
  ::close(file);
  ::kill(::getppid(), SIGINT);
}

class Shards : public Cli {
 protected:
  [[nodiscard]] std::string json(const std::string& name) const {
    return " --json " + folder_ + "/" + name + ".json";
  }
  [[nodiscard]] std::string merge(const std::string& flags) const {
    return tool() + " merge " + folder_ + "/s1 " + folder_ + "/s2 " + folder_ + "/s3 " + flags;
  }
};

TEST_F(Shards, MergedAreTheWhole) {
  for (const char* flags :
       {"Passes:--runs 5000", "Fails:--runs 5000", "Fails:--runs 5000 --keep-going"}) {
    const std::string text = flags;
    const std::string name = text.substr(0, text.find(':'));
    const std::string rest = text.substr(text.find(':') + 1);
    const Finished whole = run(name, rest + json("whole"), "whole");
    for (const char* shard : {"1", "2", "3"}) {
      const Finished part = run(name, rest + " --shard " + shard + "/3", std::string("s") + shard);
      EXPECT_TRUE(says(part, std::string(" shard=") + shard + "/3 (--shard)"));
    }
    const Finished merged = run_shell(merge(json("merged")));
    EXPECT_EQ(merged.exit_code, whole.exit_code) << merged.output;
    EXPECT_EQ(result("merged.json"), result("whole.json")) << text;
  }
}

TEST_F(Shards, AreFoundInWhatSchedulersSet) {
  const auto line_of = [&](const std::string& variables) {
    return run_shell(variables + " " + command("Passes", "--runs 10")).output;
  };
  EXPECT_NE(line_of("GTEST_SHARD_INDEX=1 GTEST_TOTAL_SHARDS=3").find("shard=2/3 (GTEST_SHARD_"),
            std::string::npos);
  EXPECT_NE(line_of("SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=2 "
                    "SLURM_ARRAY_TASK_STEP=2")
                .find("shard=3/3 (SLURM_ARRAY_TASK_ID)"),
            std::string::npos);
  EXPECT_NE(line_of("JOB_COMPLETION_INDEX=0 FERMATA_SHARDS=2").find("shard=1/2 (JOB_"),
            std::string::npos);
  EXPECT_NE(line_of("CI_NODE_INDEX=2 CI_NODE_TOTAL=2").find("shard=2/2 (CI_NODE_INDEX)"),
            std::string::npos);
  EXPECT_EQ(line_of("CI_NODE_TOTAL=1").find("shard="), std::string::npos);
}

TEST_F(Shards, ThatContradictEachOtherAreRefused) {
  const std::string plain = command("Passes", "--runs 10");
  expect_refused(
      "GTEST_SHARD_INDEX=1 GTEST_TOTAL_SHARDS=3 CI_NODE_INDEX=1 CI_NODE_TOTAL=3 " + plain,
      "GTEST_SHARD_INDEX says shard 2/3 and CI_NODE_INDEX says 1/3; --shard i/n decides");
  expect_refused("JOB_COMPLETION_INDEX=1 " + plain,
                 "JOB_COMPLETION_INDEX is set and FERMATA_SHARDS is not");
  expect_refused(plain + " --shard 4/3", "--shard: there is no shard 4 of 3");
  expect_refused(plain + " --shard 0/3", "--shard: shards are counted from 1");
  expect_refused(plain + " --shard three", "'three' is not a valid shard; expected i/n");
}

TEST_F(Shards, ThatDoNotBelongTogetherAreNotMerged) {
  static_cast<void>(run("Passes", "--runs 1000 --shard 1/3", "s1"));
  static_cast<void>(run("Passes", "--runs 1000 --shard 2/3", "s2"));
  expect_refused(tool() + " merge " + folder_ + "/s1 " + folder_ + "/s2", "shard 3/3 is missing");
  static_cast<void>(run("Passes", "--runs 1000 --shard 2/3", "s3"));
  expect_refused(merge(""), "are both shard 2/3");
  static_cast<void>(run("Passes", "--runs 2000 --shard 3/3", "s3"));
  expect_refused(merge(""), "are of different explorations");
  expect_refused(tool() + " merge " + folder_ + "/nowhere", "No such file or directory");
}

TEST_F(Shards, AnInterruptedExplorationGoesOn) {
  // The part that was cut goes on with a strategy that has learned nothing: one that learns would
  // make other runs of it than in the whole.
  const std::string options = "--strategy random --runs 20000";
  const std::string once = "INTERRUPT_ONCE=" + folder_ + "/once ";
  const Finished whole = run("Interrupts", options + json("whole"), "whole");
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  const std::string again = once + command("Interrupts", options + json("resumed"));
  const Finished first = run_shell(again);
  EXPECT_EQ(first.exit_code, 130) << first.output;
  EXPECT_TRUE(says(first, "interrupted: the same command resumes"));
  const Finished second = run_shell(again);
  EXPECT_EQ(second.exit_code, 0) << second.output;
  EXPECT_TRUE(says(second, "resuming: "));
  // In parts of other sizes, so that only what is summed up in any order has to be the same.
  const auto runs = [](const Finished& finished) {
    return line_with(finished.output, "pass Specimen.DISABLED_Interrupts: ");
  };
  EXPECT_EQ(runs(second), runs(whole));
  EXPECT_FALSE(says(run_shell(again), "resuming")) << "it was done";
}

TEST_F(Shards, OnlyTheSameExplorationGoesOn) {
  static_cast<void>(run("Passes", "--runs 1000"));
  expect_refused(command("Passes", "--runs 2000 --resume"), "--resume: the exploration in");
  expect_refused(command("Passes", "--runs 2000 --resume", "other"),
                 "has no exploration to go on with");
}

TEST_F(Shards, TapesOfTheCorpusComeFirst) {
  const Finished found = run("LosesAnUpdate", "--runs 1000");
  const std::string tape = line_with(found.output, "tape: ");
  const std::string corpus = folder_ + "/corpus";
  std::filesystem::create_directories(corpus + "/deeper");
  std::filesystem::copy_file(tape, corpus + "/deeper/kept.tape");
  const Finished again =
      run_to(2, "LosesAnUpdate", "--runs 1 --strategy fifo --corpus " + corpus, "o");
  EXPECT_TRUE(says(again, corpus + "/deeper/kept.tape"));

  sim::Tape changed = sim::load_tape(tape);
  changed.trace_hash ^= 1;
  changed.names.clear();
  changed.origins.clear();
  for (sim::Decision& decision : changed.decisions) {
    decision.subject ^= 1;
    decision.value ^= 2;
  }
  sim::save_tape(changed, corpus + "/deeper/kept.tape");
  const Finished stale =
      run_to(0, "LosesAnUpdate", "--runs 1 --strategy fifo --corpus " + corpus, "o");
  EXPECT_TRUE(says(stale, "stale: re-record " + corpus));

  std::ofstream(corpus + "/cut.tape") << contents_of(tape).substr(0, 100);
  expect_refused(command("Passes", "--corpus " + corpus), "the tape is cut off");
  expect_refused(command("Passes", "--corpus /nowhere"), "there is no folder /nowhere");
}

}  // namespace
}  // namespace fermata::testing
