// SPDX-License-Identifier: Apache-2.0

// Every class of failure: what is printed and what the process exits with. The specimens are
// disabled, since they fail; the tests run this very program again with one of them.

#include <fermata/runtime.hpp>
#include <fermata/sim_property.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "tests/meta/process.hpp"

namespace fermata::testing {
namespace {

using namespace std::chrono_literals;

SIM_TEST(Specimen, DISABLED_Safety) {
  std::printf("printed by C\n");
  fermata::delay(12ms);
  std::cout << "printed by C++" << std::endl;
  fermata::spawn("writer", [] { EXPECT_TRUE(false) << "as planned"; });
}

SIM_TEST(Specimen, DISABLED_Fatal) { ASSERT_TRUE(false) << "as planned"; }

SIM_TEST(Specimen, DISABLED_Exception) { throw fermata::Error("as planned"); }

SIM_TEST(Specimen, DISABLED_Deadlock) {
  fermata::Coroutine<> second;
  auto first = fermata::spawn("first", [&] {
    fermata::suspend();
    fermata::await(second);
  });
  second = fermata::spawn("second", [&] { fermata::await(first); });
  fermata::await(first);
}

SIM_TEST(Specimen, DISABLED_Livelock) {
  for (;;) fermata::suspend();
}

SIM_TEST(Specimen, DISABLED_Slow) { fermata::delay(25h); }

// Takes as many steps as the address of a fresh block says.
SIM_TEST(Specimen, DISABLED_Nondeterminism) {
  const auto block = std::make_unique<char[]>(600);
  const auto address = reinterpret_cast<std::uintptr_t>(block.get());
  for (std::uintptr_t i = 0; i < (address >> 4) % 64; ++i) fermata::suspend();
}

SIM_TEST(Specimen, DISABLED_LeakBetweenRuns) {
  static int runs = 0;
  EXPECT_LT(++runs, 100);
}

SIM_TEST(Specimen, DISABLED_LeakOnce) {
  static int runs = 0;
  EXPECT_NE(++runs, 100);
}

SIM_PROPERTY(Specimen, DISABLED_Property, (std::vector<int> items, std::string text)) {
  fermata::suspend();
  EXPECT_LT(items.size(), 5u) << text;
}

SIM_TEST(Specimen, DISABLED_Abort) {
  auto first = fermata::spawn("first", [] { fermata::suspend(); });
  if (fermata::random(50) == 7) std::abort();
  fermata::await(first);
}

SIM_TEST(Specimen, DISABLED_WildPointer) {
  if (fermata::random(50) == 7) *static_cast<volatile int*>(nullptr) = 1;
}

struct PlainWait {
  ~PlainWait() { fermata::delay(1h); }
};

SIM_TEST(Specimen, DISABLED_DestructorThatWaits) {
  auto leaving = fermata::spawn("leaving", [] { const PlainWait plain; });
  fermata::delay(1ms);
  EXPECT_TRUE(fermata::random(50) != 7) << "as planned";
  fermata::await(leaving);
}

SIM_TEST(Specimen, DISABLED_Passes) { fermata::delay(1ms); }

/// Runs one specimen in a process of its own.
Finished run_specimen(const std::string& name, const std::string& settings = "") {
  const std::string out = "FERMATA_OUT=" + ::testing::TempDir() + "fermata_meta_verdicts ";
  return run_shell(out + settings + " " + sim::detail::program_path() +
                   " --gtest_also_run_disabled_tests --gtest_filter=Specimen.DISABLED_" + name);
}

/// Runs it too, and expects it to end with `exit_code`.
Finished run_to(int exit_code, const std::string& name, const std::string& settings = "") {
  Finished finished = run_specimen(name, settings);
  EXPECT_EQ(finished.exit_code, exit_code) << finished.output;
  return finished;
}

/// Expects the same failure when the printed command is typed.
void expect_reproducible(const Finished& found) {
  const std::string command = line_with(found.output, "reproduce: ");
  const Finished again =
      run_shell("FERMATA_OUT=" + ::testing::TempDir() + "fermata_meta_verdicts " + command);
  EXPECT_EQ(again.exit_code, found.exit_code) << again.output;
  EXPECT_EQ(failure_part(again.output), failure_part(found.output));
}

TEST(Verdicts, AssertionsAreSafety) {
  const Finished found = run_to(2, "Safety");
  EXPECT_TRUE(says(found, "safety: tests/meta/verdicts_test.cpp:"));
  EXPECT_TRUE(says(found, "as planned"));
  EXPECT_TRUE(says(found, "coroutine 'writer', at +12 ms"));
  expect_reproducible(found);
}

TEST(Verdicts, AFullDiskIsNamedAndTakesNothingElseAway) {
  const std::string out = ::testing::TempDir() + "fermata_meta_full_disk";
  const std::string stem = out + "/Specimen.DISABLED_Safety/0x1";
  std::filesystem::remove_all(out);
  std::filesystem::create_directories(out + "/Specimen.DISABLED_Safety");
  std::filesystem::create_symlink("/dev/full", stem + ".shrunk.tape");
  std::filesystem::create_symlink("/dev/full", stem + ".html");
  const Finished found = run_to(2, "Safety", "FERMATA_OUT=" + out);
  EXPECT_EQ(line_with(found.output, "tape: "), stem + ".tape");
  EXPECT_EQ(line_with(found.output, "shrunk tape: "),
            "not written: cannot write the tape " + stem + ".shrunk.tape: No space left on device");
  EXPECT_EQ(line_with(found.output, "report: "),
            "not written: cannot write the report " + stem + ".html: No space left on device");
}

TEST(Verdicts, NoRoomForAnotherProcessesAnswerIsNoNondeterminism) {
  const Finished found = run_to(2, "Safety", "TMPDIR=/proc/no/folder");
  EXPECT_TRUE(says(found, "safety: tests/meta/verdicts_test.cpp:"));
  EXPECT_TRUE(says(found, "  not run in a fresh process: cannot create "));
}

TEST(Verdicts, OutputIsShownOfTheFailingRunOnly) {
  const Finished found = run_specimen("Safety");
  EXPECT_EQ(lines_with(found.output, "  [+0 ms main] printed by C").size(), 1u)
      << found.output;
  EXPECT_TRUE(says(found, " main] printed by C++\n"));
}

TEST(Verdicts, FatalAssertionsAreSafety) {
  const Finished found = run_to(2, "Fatal");
  EXPECT_TRUE(says(found, "as planned"));
  expect_reproducible(found);
}

TEST(Verdicts, UnhandledErrorsAreSafety) {
  const Finished found = run_to(2, "Exception");
  EXPECT_TRUE(says(found, "as planned"));
  expect_reproducible(found);
}

TEST(Verdicts, DeadlocksAreExplained) {
  const Finished found = run_to(4, "Deadlock");
  EXPECT_TRUE(says(found, "deadlock: "));
  EXPECT_TRUE(says(found, "who waits:\n"));
  EXPECT_TRUE(says(found, "first"));
  EXPECT_TRUE(says(found, "verdicts_test.cpp:"));
  expect_reproducible(found);
}

TEST(Verdicts, StepsWithoutEndAreLiveness) {
  const Finished found = run_to(3, "Livelock", "FERMATA_STEP_LIMIT=5000");
  expect_reproducible(found);
}

TEST(Verdicts, TimeThatStandsStillIsLiveness) {
  const Finished found = run_to(3, "Livelock", "FERMATA_INSTANT_LIMIT=5000");
  EXPECT_TRUE(says(found, "without a wait for time to pass, most of late by 'main'"));
  expect_reproducible(found);
}

TEST(Verdicts, TimeWithoutEndIsLiveness) {
  const Finished found = run_to(3, "Slow");
  expect_reproducible(found);
  EXPECT_EQ(run_specimen("Slow", "FERMATA_TIME_LIMIT=26h").exit_code, 0);
}

TEST(Verdicts, DependingOnAddressesIsNondeterminism) {
  const Finished found = run_to(5, "Nondeterminism", "FERMATA_CHECK_DETERMINISM=1");
  EXPECT_TRUE(says(found, "the first step that differs is step "));
}

TEST(Verdicts, StateThatLeaksBetweenRunsIsNondeterminism) {
  for (const char* name : {"LeakBetweenRuns", "LeakOnce"}) {
    const Finished found = run_specimen(name);
    EXPECT_EQ(found.exit_code, 5) << found.output;
    EXPECT_TRUE(says(found, "nondeterminism: state leaks between runs"));
    expect_reproducible(found);
  }
}

TEST(Verdicts, AFailureIsToldEvenWhenItsTapeCannotBeWritten) {
  const Finished found = run_shell("FERMATA_OUT=/proc/nowhere " + lost_update());
  EXPECT_EQ(found.exit_code, 2) << found.output;
  EXPECT_TRUE(says(found, "tape: not written: cannot write the tape /proc/nowhere/"));
}

TEST(Verdicts, PropertiesShowAndKeepTheirArguments) {
  const Finished found = run_to(2, "Property");
  EXPECT_TRUE(says(found, "arguments:\n"));
  expect_reproducible(found);
  const std::string tape = line_with(found.output, "tape: ");
  const Finished replayed = run_specimen("Property", "FERMATA_REPLAY=" + tape);
  EXPECT_TRUE(says(replayed, "arguments:\n"));
  EXPECT_EQ(line_with(replayed.output, "  signature  "), line_with(found.output, "  signature  "));
}

TEST(Verdicts, ArgumentsAreMadeSmallerTogetherWithTheSchedule) {
  const Finished found = run_specimen("Property");
  const std::string shrunk = line_with(found.output, "shrunk: ");
  EXPECT_NE(shrunk.find(" -> 0, arguments "), std::string::npos) << shrunk;
  EXPECT_TRUE(says(found, "arguments:\n  ([0, 0, 0, 0, 0], "));
  const std::string tape = line_with(found.output, "shrunk tape: ");
  const Finished replayed = run_specimen("Property", "FERMATA_REPLAY=" + tape);
  EXPECT_EQ(replayed.exit_code, 2) << replayed.output;
  EXPECT_TRUE(says(replayed, "arguments:\n  ([0, 0, 0, 0, 0], "));
}

TEST(Verdicts, AProcessThatARunKillsSaysWhichRun) {
  for (const char* name : {"Abort", "WildPointer"}) {
    const Finished found = run_specimen(name);
    const std::string run = line_with(found.output, "killed in run ");
    const Finished again = run_shell(line_with(found.output, "reproduce: "));
    EXPECT_EQ(again.exit_code, found.exit_code) << again.output;
    EXPECT_EQ(line_with(again.output, "killed in run "), run);
  }
}

TEST(Verdicts, ADestructorThatWaitsInAFailingRunIsNamed) {
  const auto expect_name = [](const std::string& settings) {
    const Finished found = run_specimen("DestructorThatWaits", settings);
    EXPECT_NE(found.exit_code, 0);
    const std::string escape =
        line_with(found.output, "fermata: a destructor of coroutine 'leaving' spawned at ");
    EXPECT_NE(escape.find(" (~PlainWait), when the run ended by force because of "),
              std::string::npos)
        << found.output;
    EXPECT_TRUE(says(found, "as planned"));
    return found;
  };
  const Finished found = expect_name("");
  const std::string reproduce = line_with(found.output, "reproduce: ");
  const std::string runs = reproduce.substr(0, reproduce.find(' '));
  const Finished examined = expect_name("FERMATA_INTERNAL_POST_MORTEM=2s " + runs);
  EXPECT_TRUE(says(examined, "its last words:\n"));
}

TEST(Verdicts, PassingIsZero) {
  const Finished passed = run_specimen("Passes", "FERMATA_RUNS=500");
  EXPECT_EQ(passed.exit_code, 0) << passed.output;
  EXPECT_TRUE(says(passed, "explored 500 schedules, "));
}

TEST(Verdicts, TheHeaviestDecidesTheExitCode) {
  const Finished finished = run_specimen("Safety:Specimen.DISABLED_Deadlock");
  EXPECT_EQ(finished.exit_code, 2) << finished.output;
}

}  // namespace
}  // namespace fermata::testing
