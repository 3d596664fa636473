// SPDX-License-Identifier: Apache-2.0

// `fermata run`: what it finds, says and exits with, however its test processes end. The specimens
// are disabled, since they fail; the tool runs this very program with one of them.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/tape/tape.hpp"
#include "tests/end_to_end/cli_specimens.hpp"

namespace fermata::testing {
namespace {

using namespace std::chrono_literals;

/// Some work in which the order varies; one time in `odds` it returns true.
bool unlucky(std::uint64_t odds) {
  auto other = fermata::spawn("other", [] {
    for (std::uint64_t i = fermata::random(3); i > 0; --i) fermata::suspend();
  });
  fermata::suspend();
  fermata::await(other);
  return fermata::random(odds) == 1;
}

SIM_TEST(Specimen, DISABLED_Passes) { unlucky(2); }
SIM_TEST(Specimen, DISABLED_Fails) { EXPECT_FALSE(unlucky(400)) << "as planned"; }
SIM_TEST(Specimen, DISABLED_FailsInTwoWays) {
  EXPECT_FALSE(unlucky(50)) << "one way";
  if (unlucky(60)) throw fermata::Error("another way");
}
SIM_TEST(Specimen, DISABLED_Crashes) {
  if (unlucky(400)) std::abort();
}
SIM_TEST(Specimen, DISABLED_Exits) {
  if (unlucky(400)) std::_Exit(0);
}
SIM_TEST(Specimen, DISABLED_Hangs) {
  if (unlucky(400)) {
    std::signal(SIGTERM, SIG_IGN);
    for (;;) ::pause();
  }
}
SIM_TEST(Specimen, DISABLED_EatsMemory) {
  if (!unlucky(400)) return;
  std::vector<std::unique_ptr<char[]>> all;
  for (;;) all.push_back(std::make_unique_for_overwrite<char[]>(1 << 20));
}
SIM_TEST(Specimen, DISABLED_PrintsMegabytes) {
  const std::string line(1'000, 'x');
  for (int i = 0; i < 100; ++i)
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}
SIM_TEST(Specimen, DISABLED_Forks) {
  const sim::AllowNondeterminism allowed;
  if (::fork() == 0) {
    for (;;) ::pause();
  }
}
/// A daemon, as far as it can get away.
SIM_TEST(Specimen, DISABLED_ForksAway) {
  const sim::AllowNondeterminism allowed;
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) std::_Exit(0);
  ::setsid();
  for (;;) ::pause();
}
SIM_TEST(Specimen, DISABLED_ForksAwayAndHangs) {
  const sim::AllowNondeterminism allowed;
  if (::fork() == 0) ::setsid();
  for (;;) ::pause();
}
/// More than once: then the tool waits for nobody.
SIM_TEST(Specimen, DISABLED_ForksAwayAndInterrupts) {
  const sim::AllowNondeterminism allowed;
  if (::fork() == 0) {
    ::setsid();
    for (;;) ::pause();
  }
  for (;;) ::kill(::getppid(), SIGINT);
}
/// In which order three coroutines have run.
std::string order_of_three() {
  std::string order;
  const auto note = [&order](const char* name) { return [&order, name] { order += name; }; };
  auto a = fermata::spawn("a", note("a"));
  auto b = fermata::spawn("b", note("b"));
  auto c = fermata::spawn("c", note("c"));
  fermata::await(a);
  fermata::await(b);
  fermata::await(c);
  return order;
}
/// Two signatures, and nothing to draw but the order.
SIM_TEST(Specimen, DISABLED_DependsOnTheOrder) {
  const std::string order = order_of_three();
  EXPECT_NE(order, "bac") << "one way";
  if (order == "cba") throw fermata::Error("another way");
}
void draw_what_does_not_matter() {
  for (int i = 0; i < 10; ++i) static_cast<void>(fermata::random(100));
}
SIM_TEST(Specimen, DISABLED_CrashesInOneOrder) {
  draw_what_does_not_matter();
  if (order_of_three() == "cba") std::abort();
}
SIM_TEST(Specimen, DISABLED_ExitsInOneOrder) {
  draw_what_does_not_matter();
  if (order_of_three() == "cba") std::_Exit(3);
}
SIM_TEST(Specimen, DISABLED_ForgetsAWrite) {
  sim::History<sim::models::Register<>> history(world, "register");
  int value = 0;
  history.call("Ada", sim::models::Write{1}, [&] { value = unlucky(40) ? 0 : 1; });
  history.call("Bob", sim::models::Read{}, [&] { return value; });
}
SIM_TEST(Specimen, DISABLED_ComesToALimit) {
  if (unlucky(4)) fermata::delay(25h);
}

SIM_TEST(Specimen, DISABLED_Skips) {
  GTEST_SKIP() << "no <device> here";
  ADD_FAILURE() << "goes on";
}
SIM_TEST(Specimen, DISABLED_SkipsSometimes) {
  if (unlucky(3)) GTEST_SKIP() << "not this time";
  fermata::suspend();
}

TEST_F(Cli, PassingIsZeroAndHasStatistics) {
  const Finished finished = run_to(0, "Passes", "--runs 700");
  EXPECT_EQ(finished.output.find("sim: seed=0x1 strategy="), 0u) << finished.output;
  EXPECT_TRUE(says(finished, "pass Specimen.DISABLED_Passes: 700 runs, "));
  for (const char* row : {"runs  ", "steps  ", "decisions  ", "new behaviours  ", "next run new  ",
                          "virtual time  ", "determinism checks   ", "longest runs  "}) {
    EXPECT_TRUE(says(finished, std::string("\n  ") + row)) << row;
  }
}

TEST_F(Cli, StatisticsSayWhatEachStrategyHad) {
  const Finished finished = run("Passes", "--runs 700 --json " + folder_ + "/r.json");
  EXPECT_TRUE(says(finished, "\n    random             50.0 % of the runs, "));
  EXPECT_TRUE(says(finished, "\n    urw "));
  const std::string json = contents_of(folder_ + "/r.json");
  EXPECT_NE(json.find("\"random\":{\"runs\":350,"), std::string::npos) << json;
  EXPECT_FALSE(says(run("Passes", "--runs 10 --strategy pos"), "of the runs, "));
}

TEST_F(Cli, VerboseSaysWhichWorldWasDrawn) {
  const Finished verbose = run("Passes", "--runs 10 -v");
  EXPECT_TRUE(says(verbose, "\nsim: world of Specimen.DISABLED_Passes, run 1: "));
  EXPECT_FALSE(says(run("Passes", "--runs 10"), "sim: world of"));
}

TEST_F(Cli, ATerminalHasABarAndOthersPlainLines) {
  const std::string plain = command("Passes", "--runs 3000 --jobs 1");
  EXPECT_EQ(run_shell(plain).output.find('\r'), std::string::npos);
  const Finished terminal = run_shell("script -qec '" + plain + "' /dev/null");
  EXPECT_TRUE(says(terminal, "\r\x1b[K["));
  EXPECT_TRUE(says(terminal, " runs, "));
  EXPECT_TRUE(says(terminal, "0 failures, 0 of 1 test"));
}

TEST_F(Cli, AFailureIsReportedAndItsLineWorks) {
  const Finished found = run_to(2, "Fails", "--runs 4000");
  EXPECT_TRUE(says(found, "FAIL Specimen.DISABLED_Fails: safety: "));
  EXPECT_TRUE(says(found, " of 4000")) << "and not of its chunk";
  const std::string out = "FERMATA_OUT=" + folder_ + "/again ";
  const Finished again = run_shell(out + line_with(found.output, "reproduce: "));
  EXPECT_EQ(again.exit_code, 2) << again.output;
  EXPECT_TRUE(std::filesystem::exists(line_with(found.output, "tape: "))) << found.output;
}

TEST_F(Cli, AFailureOfAStrategyWithALongNameIsReproducedByItsTape) {
  std::string strategy = "urw:w=1.1";
  for (int key = 2; key < 100; ++key) strategy += "," + std::to_string(key) + ".1";
  const Finished found = run_to(2, "Fails", "--runs 4000 --strategy " + strategy);
  const std::string line = line_with(found.output, "reproduce: ");
  EXPECT_EQ(line.find("FERMATA_REPLAY="), 0u) << line;
  EXPECT_EQ(line.find(strategy), std::string::npos) << line;
  const Finished again = run_shell(line);
  EXPECT_EQ(again.exit_code, 2) << again.output;
  EXPECT_TRUE(says(again, "safety: "));
}

TEST_F(Cli, TheResultDoesNotDependOnTheNumberOfProcesses) {
  for (const char* flags : {"Fails:--runs 4000", "FailsInTwoWays:--runs 1500 --keep-going",
                            "Passes:--runs 3000", "Crashes:--runs 2000 --keep-going"}) {
    const std::string text = flags;
    const std::string name = text.substr(0, text.find(':'));
    const std::string rest = text.substr(text.find(':') + 1);
    const auto once = run(name, rest + " --jobs 1 --json " + folder_ + "/one.json", "one");
    const auto again = run(name, rest + " --jobs 5 --json " + folder_ + "/five.json", "five");
    EXPECT_EQ(once.exit_code, again.exit_code);
    EXPECT_GT(result("one.json").size(), 500u);
    EXPECT_EQ(result("one.json"), result("five.json")) << text;
  }
}

TEST_F(Cli, KeepingGoingLeavesOneTapeForEachSignature) {
  const Finished found = run_to(2, "FailsInTwoWays", "--runs 1500 --keep-going");
  EXPECT_TRUE(says(found, "1500 runs"));
  EXPECT_EQ(lines_with(found.output, "FAIL Specimen.DISABLED_FailsInTwoWays: safety").size(), 2u)
      << found.output;
  std::size_t tapes = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder_ + "/out/Specimen.DISABLED_FailsInTwoWays")) {
    tapes += entry.path().string().ends_with(".shrunk.tape");
  }
  EXPECT_EQ(tapes, 2u);
}

TEST_F(Cli, TapesOfASearchHaveNamesOfTheirOwn) {
  const Finished found = run_to(2, "DependsOnTheOrder", "--runs 5000 --strategy dfs --keep-going");
  const auto tapes = lines_with(found.output, "tape: ");
  ASSERT_EQ(tapes.size(), 2u) << found.output;
  EXPECT_NE(tapes[0], tapes[1]);
  for (const std::string& tape : tapes) {
    EXPECT_EQ(run_shell(tool() + " replay " + tape).exit_code, 2) << tape;
  }
}

TEST_F(Cli, HistoriesOfAFailingRunAreKept) {
  const Finished found = run_to(2, "ForgetsAWrite", "--runs 2000");
  const std::string path = line_with(found.output, "histories: ");
  const Finished read = run_shell(
      "python3 -c 'import json,sys\nfor h in json.load(open(sys.argv[1])): "
      "print(h[\"history\"], h[\"answer\"], len(h[\"operations\"]))' " +
      path);
  EXPECT_EQ(read.output, "register not linearizable 2\n");
}

TEST_F(Cli, ACrashCostsOneChunk) {
  for (const char* specimen : {"Crashes", "Exits"}) {
    const Finished found = run_to(9, specimen, "--runs 2000 --keep-going");
    EXPECT_TRUE(says(found, "crash: the test process "));
    EXPECT_TRUE(says(found, ": 2000 runs"));
  }
}

TEST_F(Cli, AProcessThatDiesAtItsStartIsACrashBeforeTheFirstRun) {
  const std::string program = script("test -n \"$FERMATA_INTERNAL_LIST\" && exec " +
                                     sim::detail::program_path() + "; kill -SEGV $$");
  const Finished found = run_shell(tool() + " run " + program +
                                   " --disabled --filter '*_Passes' --out " + folder_ + "/out");
  EXPECT_EQ(found.exit_code, 9) << found.output;
  EXPECT_TRUE(says(found, "signal 11 (Segmentation fault) before its first run"));
}

TEST_F(Cli, TheRunThatCrashesIsNamedAndItsLineCrashes) {
  const Finished found = run_to(9, "Crashes", "--runs 4000 --strategy random");
  EXPECT_TRUE(says(found, "signal 6"));
  const std::string command = line_with(found.output, "reproduce: FERMATA_SEED=");
  const Finished again = run_shell("FERMATA_SEED=" + command);
  EXPECT_TRUE(says(again, "killed in run 1\n"));
}

TEST_F(Cli, ACrashIsMadeSmall) {
  for (const char* specimen : {"CrashesInOneOrder", "ExitsInOneOrder"}) {
    const Finished found = run_to(9, specimen, "--runs 4000 --strategy random");
    EXPECT_TRUE(says(found, "shrunk: "));
    EXPECT_TRUE(says(found, "fails with production's choices except:\n"));
    const std::string tape = line_with(found.output, "tape: ");
    const std::string small = line_with(found.output, "shrunk tape: ");
    EXPECT_LE(sim::load_tape(small).decisions.size(), 2u) << found.output;
    EXPECT_GT(sim::load_tape(tape).decisions.size(), 2u) << found.output;
    EXPECT_TRUE(says(found, " runs before ")) << "with names";
    for (const std::string& each : {tape, small}) {
      EXPECT_EQ(run_shell(tool() + " replay " + each).exit_code, 9) << each;
    }
    std::filesystem::remove(small);
    const Finished again = run_shell(tool() + " shrink " + tape);
    EXPECT_EQ(again.exit_code, 9) << again.output;
    EXPECT_LE(sim::load_tape(small).decisions.size(), 2u) << again.output;
  }
}

TEST_F(Cli, ACrashIsLeftAsItIsWhenThatIsWanted) {
  const Finished found = run_to(9, "Crashes", "--runs 4000 --shrink off");
  EXPECT_FALSE(says(found, "shrunk"));
}

TEST_F(Cli, ARunThatDoesNotEndIsAHangAndMadeSmall) {
  const Finished found = run_to(124, "Hangs", "--runs 4000 --wall-limit 500ms");
  EXPECT_TRUE(says(found, "hang: a run took longer than 0.5 s of real time"));
  const std::string small = line_with(found.output, "shrunk tape: ");
  EXPECT_EQ(sim::load_tape(small).decisions.size(), 1u) << found.output;
}

TEST_F(Cli, RunningOutOfMemoryIsSaid) {
#ifdef FERMATA_ASAN
  GTEST_SKIP() << "AddressSanitizer needs more address space than there may be";
#endif
  const Finished found = run("EatsMemory", "--runs 4000 --memory-limit 300M");
  EXPECT_TRUE(found.exit_code == 2 || found.exit_code == 9) << found.output;
  EXPECT_TRUE(says(found, "memory limit of 300 MiB"));
}

/// The numbers of those that run a specimen, one that begins so (a regular expression). The
/// brackets keep pgrep's own shell out.
std::string processes_of(const std::string& specimen) {
  return run_shell("pgrep -f 'DISABLED_[" + specimen.substr(0, 1) + "]" + specimen.substr(1) + "'")
      .output;
}

TEST_F(Cli, ProcessesThatPrintOrForkAreKeptWithinBounds) {
  const Finished printed = run("PrintsMegabytes", "--runs 300");
  EXPECT_EQ(printed.exit_code, 0) << printed.output.substr(0, 2'000);
  EXPECT_LT(printed.output.size(), 10'000u);
  const Finished forked = run_to(0, "Forks", "--runs 20");
  EXPECT_EQ(processes_of("Forks($|[^A])"), "");  // ForksAway may run beside this.
}

TEST_F(Cli, WhatLeavesTheGroupOfItsProcessEndsWithIt) {
  const Finished away = run_to(0, "ForksAway", "--runs 20");
  EXPECT_EQ(processes_of("ForksAway"), "");
  const Finished hung =
      run_to(124, "ForksAwayAndHangs", "--runs 20 --wall-limit 300ms --shrink off");
  EXPECT_EQ(processes_of("ForksAway"), "");
  const Finished interrupted = run_to(130, "ForksAwayAndInterrupts", "--runs 20");
  EXPECT_EQ(processes_of("ForksAway"), "");
}

TEST_F(Cli, ManyRunsThatComeToALimitAreAWarning) {
  const Finished found = run_to(3, "ComesToALimit", "--runs 250 --keep-going");
  EXPECT_TRUE(says(found, "warning: "));
}

TEST_F(Cli, TheEndOfTheTimeIsAPass) {
  const Finished finished = run_to(0, "Passes", "--time 700ms");
  EXPECT_TRUE(says(finished, " time=700ms "));
}

TEST_F(Cli, EndsWhenNothingNewIsSeen) {
  const Finished finished = run_to(0, "Passes", "--until-stable=90% --faults none");
  EXPECT_TRUE(says(finished, "(stable)"));
}

TEST_F(Cli, ASearchSaysWhatItHasCovered) {
  for (const char* jobs : {"1", "4"}) {
    const Finished finished =
        run_to(0, "Passes", std::string("--runs 5000 --strategy dfs --faults none --jobs ") + jobs);
    EXPECT_TRUE(says(finished, " runs, "));
    EXPECT_TRUE(says(finished, "schedules"));
  }
}

TEST_F(Cli, ASeedAloneIsOneRun) {
  const Finished finished = run("Passes", "--seed 0x2a");
  EXPECT_TRUE(says(finished, ": 1 run, "));
  EXPECT_TRUE(says(finished, "seed=0x2a "));
  EXPECT_NE(run("Passes", "--seed random").output, run("Passes", "--seed random").output);
}

TEST_F(Cli, ATestThatSkipsInAllRunsIsSkipped) {
  const Finished skipped =
      run_to(0, "Skips", "--runs 600 --json " + folder_ + "/r.json --junit " + folder_ + "/r.xml");
  EXPECT_TRUE(says(skipped, "skip Specimen.DISABLED_Skips: 600 runs, all skipped: "));
  EXPECT_TRUE(says(skipped, ": no <device> here\n"));
  EXPECT_TRUE(says(skipped, "  skipped              600 runs, 1 test in all runs\n"));
  const std::string json = contents_of(folder_ + "/r.json");
  EXPECT_NE(json.find("\"passed\":true,\"skipped\":true,\"skipped_runs\":600,"), std::string::npos)
      << json;
  const std::string xml = contents_of(folder_ + "/r.xml");
  EXPECT_NE(xml.find("errors=\"0\" skipped=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("<skipped message=\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("no &lt;device&gt; here\"/>"), std::string::npos) << xml;
  const Finished alone = run_shell(sim::detail::program_path() +
                                   " --gtest_also_run_disabled_tests "
                                   "--gtest_filter=Specimen.DISABLED_Skips");
  EXPECT_EQ(alone.exit_code, 0) << alone.output;
  EXPECT_TRUE(says(alone, "skipped in all 1000 schedules"));
  EXPECT_TRUE(says(alone, "[  SKIPPED ] Specimen.DISABLED_Skips"));
  EXPECT_TRUE(says(alone, ": no <device> here\n"));
}

TEST_F(Cli, RunsThatSkipAreCountedApart) {
  const Finished some = run_to(0, "SkipsSometimes", "--runs 600 --junit " + folder_ + "/r.xml");
  EXPECT_TRUE(says(some, "pass Specimen.DISABLED_SkipsSometimes: 600 runs, "));
  EXPECT_TRUE(says(some, " skipped\n"));
  EXPECT_TRUE(says(some, " runs, 0 tests in all runs\n"));
  EXPECT_EQ(contents_of(folder_ + "/r.xml").find("<skipped"), std::string::npos);
}

TEST_F(Cli, ReportsForMachinesCanBeRead) {
  const Finished found = run_to(
      2, "FailsInTwoWays",
      "--runs 1500 --keep-going --json " + folder_ + "/r.json --junit " + folder_ + "/r.xml");
  const Finished json = run_shell(
      "python3 -c 'import json,sys\nfor line in open(sys.argv[1]): "
      "print(json.loads(line)[\"event\"])"
      "' " +
      folder_ + "/r.json");
  EXPECT_EQ(json.output, "start\nfailure\nfailure\ntest\nend\n");
  const Finished xml = run_shell(
      "python3 -c 'import sys,xml.etree.ElementTree as e\nr=e.parse(sys.argv[1]).getroot()\n"
      "print(r.get(\"tests\"), r.get(\"failures\"), len(r.findall(\".//failure\")))' " +
      folder_ + "/r.xml");
  EXPECT_EQ(xml.output, "1 1 2\n");
}

}  // namespace
}  // namespace fermata::testing
