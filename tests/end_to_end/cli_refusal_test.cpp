// SPDX-License-Identifier: Apache-2.0

// What the tool cannot do is refused with exit code 1 and a message that says what to do.

#include <gtest/gtest.h>

#include <string>

#include "fermata/sim/tape/tape.hpp"
#include "tests/end_to_end/cli_specimens.hpp"

namespace fermata::testing {
namespace {

using Refusal = Cli;

TEST_F(Refusal, OfProgramsThatAreNone) {
  expect_refused(tool() + " run /nowhere/test", "there is no program /nowhere/test");
  expect_refused(tool() + " run ''", "the path of the program is empty");
  expect_refused(tool() + " run /etc/passwd", "/etc/passwd is not an executable program");
  expect_refused(tool() + " run " + folder_, "is not an executable program");
  expect_refused(tool() + " list /bin/true",
                 "/bin/true does not list simulated tests: it exited with code 0; expected a test "
                 "program that links fermata::sim");
}

TEST_F(Refusal, OfProgramsThatMisbehave) {
  const std::string run = tool() + " run --wall-limit 1s ";
  expect_refused(run + script("kill -SEGV $$"), "it was killed by signal 11 (Segmentation fault)");
  expect_refused(run + script("echo out of order; exit 7"), "it exited with code 7");
  expect_refused(run + script("yes 'a million lines' | head -1000000; exit 1"),
                 "it exited with code 1");
  expect_refused(run + script("sleep 1000"), "it did not end within 1000 ms");
  expect_refused(run + script("trap '' TERM INT HUP; while :; do sleep 1000; done"),
                 "it did not end within 1000 ms");
  expect_refused(run + script("yes without an end"), "it did not end within 1000 ms");
  expect_refused(run + script("sleep 1000 & sleep 1000 & exit 3"), "it exited with code 3");
}

TEST_F(Refusal, OfUnknownTests) {
  expect_refused(tool() + " run " + lost_update() + " --filter 'Nobody.*'",
                 "'Nobody.*' selects none of the 1 simulated tests of ");
  expect_refused(tool() + " run " + lost_update() + " --filter 'Nobody.*'",
                 "\n  Account.DepositsAreNotLost");
  expect_refused(tool() + " run " + lost_update() + " --filter 'Acount.*'",
                 "; did you mean Account.*?\n");
  expect_refused(tool() + " run " + lost_update() + " --filter Account.DepositAreNotLost",
                 "; did you mean Account.DepositsAreNotLost?\n");
  expect_refused(tool() + " run " + lost_update() + " --filter Account",
                 "; did you mean Account.*?\n");
}

TEST_F(Refusal, OfValues) {
  const std::string run = tool() + " run " + lost_update() + " ";
  expect_refused(run + "--seed twelve", "--seed: 'twelve' is not a valid seed");
  expect_refused("FERMATA_SEED=twelve " + run, "FERMATA_SEED: 'twelve' is not a valid seed");
  expect_refused(run + "--strategy luck", "--strategy: 'luck' is not a valid strategy");
  expect_refused(run + "--faults gremlins", "--faults: ");
  expect_refused(run + "--runs 0", "--runs: '0' is not a valid number; expected at least 1");
  expect_refused(run + "--time 5", "--time: '5' is not a valid duration");
  expect_refused(run + "--jobs many", "--jobs: 'many' is not a valid number");
  expect_refused(run + "--memory-limit 5", "--memory-limit: '5' is not a valid size");
  expect_refused(run + "--until-stable=5", "--until-stable: '5' is not a valid share");
  expect_refused(run + "--step-limit none", "--step-limit: 'none' is not a valid number");
  expect_refused("FERMATA_KEEP_GOING=maybe " + run, "FERMATA_KEEP_GOING: 'maybe' is unknown");
}

TEST_F(Refusal, OfNames) {
  expect_refused("FERMATA_SEEED=1 " + tool() + " run " + lost_update(),
                 "unknown variable FERMATA_SEEED; `fermata env` lists them; did you mean "
                 "FERMATA_SEED?");
  expect_refused(tool() + " run " + lost_update() + " --sed 3", "; did you mean --seed?; see");
  expect_refused(tool() + " run " + lost_update() + " --time-limt=3s",
                 "did you mean --time-limit?");
  expect_refused(tool() + " dance", "see `fermata --help`");
  expect_refused(tool() + " reply x.tape", "; did you mean replay?; see `fermata --help`");
  expect_refused(tool() + " completion csh",
                 "no completion for 'csh'; expected bash, zsh, fish or man");
}

TEST_F(Refusal, OfASecondProgramWhichTheHelpDoesNotOffer) {
  expect_refused(tool() + " list a b", "unexpected argument 'b': list takes one BIN");
  const Finished help = run_shell(tool() + " list --help");
  EXPECT_TRUE(says(help, "Usage: fermata list [OPTIONS] BIN\n"));
  EXPECT_EQ(help.output.find("..."), std::string::npos) << help.output;
}

TEST_F(Refusal, OfFoldersThatCannotBeWrittenTo) {
  const std::string calm = tool() + " run " + lost_update() + " --strategy calm --runs 5 --out ";
  expect_refused(calm + folder_ + "/out --json /nowhere/r.json",
                 "--json: cannot write /nowhere/r.json");
  expect_refused(calm + folder_ + "/out --junit " + folder_, "Is a directory");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out")) << "before anything is explored";
  expect_refused(calm + script("exit 0") + "/out", "Not a directory; --out names another one");
  expect_refused(tool() + " run " + lost_update() + " --out /proc/nowhere",
                 "the output folder /proc/nowhere/exploration cannot be written to");
  expect_refused(tool() + " run " + lost_update() + " --strategy calm --runs 5 --json /dev/full " +
                     "--out " + folder_ + "/out",
                 "cannot write /dev/full: No space left on device");
}

TEST_F(Refusal, OfFullDisks) {
  const std::string disk = folder_ + "/disk";
  std::filesystem::create_directories(disk);
  const std::string mount = "unshare -rm sh -c 'mount -t tmpfs -o size=SIZE none " + disk + " && ";
  if (run_shell(std::regex_replace(mount, std::regex("SIZE"), "64k") + "true'").exit_code != 0) {
    GTEST_SKIP() << "no file system may be mounted here";
  }
  const std::string run =
      tool() + " run " + lost_update() + " --strategy calm --runs 5 --out " + disk + "/out'";
  const std::string nothing_left = "dd if=/dev/zero of=" + disk + "/f bs=4096 2>/dev/null; ";
  expect_refused(std::regex_replace(mount, std::regex("SIZE"), "64k") + nothing_left + run,
                 "No space left on device");
  // Room for the plan and a process's board, and none for what it has to tell.
  const Finished finished = run_shell(std::regex_replace(mount, std::regex("SIZE"), "12k") + run);
  EXPECT_EQ(finished.exit_code, 1) << finished.output;
  EXPECT_TRUE(says(finished, "No space left on device"));
}

TEST_F(Refusal, OfASecondToolInOneFolder) {
  const std::string run =
      tool() + " run " + lost_update() + " --strategy calm --runs 10 --out " + folder_ + "/out";
  EXPECT_EQ(run_shell(run).exit_code, 0);
  expect_refused("flock " + folder_ + "/out/exploration/lock " + run,
                 "another fermata explores into");
}

class Tapes : public Cli {
 protected:
  Tapes() {
    const Finished found = run_shell(tool() + " run " + lost_update() + " --out " + folder_);
    tape_ = line_with(found.output, "tape: ");
    EXPECT_EQ(found.exit_code, 2) << found.output;
  }

  [[nodiscard]] std::string replay(const std::string& flags = "") const {
    return tool() + " replay " + tape_ + " --program " + lost_update() + " " + flags;
  }

  std::string tape_;
};

TEST_F(Tapes, AreReplayed) {
  const Finished again = run_shell(replay());
  EXPECT_EQ(again.exit_code, 2) << again.output;
  EXPECT_TRUE(says(again, "safety: "));
  const std::string seed = tool() + " replay " + lost_update() + " --seed 0x1";
  EXPECT_EQ(run_shell(seed + " --strategy fifo").exit_code, 0);
  expect_refused(tool() + " replay " + lost_update(), "--seed is missing");
}

TEST_F(Tapes, ThatDivergeAreEight) {
  sim::Tape tape = sim::load_tape(tape_);
  tape.decisions.back().subject ^= 1;
  sim::save_tape(tape, tape_);
  EXPECT_EQ(run_shell(replay()).exit_code, 8);
}

TEST_F(Tapes, ThatAreNotWholeAreRefused) {
  const std::string whole = contents_of(tape_);
  std::ofstream(tape_) << whole.substr(0, whole.size() / 2);
  expect_refused(replay(), "the tape is cut off");
  std::string edited = whole;
  edited.replace(edited.find("draws "), 6, "draws 9");
  std::ofstream(tape_) << edited;
  expect_refused(replay(), "the tape is damaged");
  std::string other = whole;
  other.replace(other.find("fermata-tape "), 14, "fermata-tape 77");
  std::ofstream(tape_) << other;
  expect_refused(replay(), "tape format 77");
  expect_refused(tool() + " replay /nowhere.tape", "there is neither a tape nor a program");
}

TEST_F(Tapes, OfOtherProgramsAreRefused) {
  sim::Tape tape = sim::load_tape(tape_);
  tape.test = "Account.Other";
  sim::save_tape(tape, tape_);
  expect_refused(replay(), "is a tape of Account.Other, which ");
  tape.program = "/nowhere/test";
  sim::save_tape(tape, tape_);
  expect_refused(tool() + " replay " + tape_, "/nowhere/test, which has written ");
}

TEST(Completion, IsThereForEachShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Finished finished = run_shell(tool() + " completion " + shell);
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_NE(finished.output.find("keep-going"), std::string::npos) << finished.output;
  }
  const Finished completed = run_shell("bash -c 'source <(" + tool() +
                                       " completion bash); COMP_WORDS=(fermata run --ke); "
                                       "COMP_CWORD=2; _fermata; echo ${COMPREPLY[@]}'");
  EXPECT_EQ(completed.output, "--keep-going\n");
  const Finished in_group = run_shell("bash -c 'source <(" + tool() +
                                      " completion bash); COMP_WORDS=(fermata fleet wo); "
                                      "COMP_CWORD=2; _fermata; echo ${COMPREPLY[@]}'");
  EXPECT_EQ(in_group.output, "work\n");
}

}  // namespace
}  // namespace fermata::testing
