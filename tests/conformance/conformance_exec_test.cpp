// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/exec.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/programs.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/open_descriptors.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::open_descriptors;

template <class Arm>
class ExecOf : public ::testing::Test {};
TYPED_TEST_SUITE(ExecOf, Programs);

MAIN_TYPED_TEST(ExecOf, ExecGivesTheLastLine) {
  FERMATA_CHECKS("EXE-05");
  EXPECT_EQ(exec(commands::kHello).text, "hello");
  EXPECT_EQ(exec(commands::kSlowLines).text, "last");
  EXPECT_EQ(exec(commands::kBlankLines).text, "");
  const ExecResult none = exec(commands::kExit3);
  EXPECT_EQ(none.text, "");
  EXPECT_EQ(none.exit.code(), 3);
}

MAIN_TYPED_TEST(ExecOf, ExecLinesAddsEachLine) {
  FERMATA_CHECKS("EXE-05");
  std::vector<std::string> lines{"before"};
  EXPECT_EQ(exec_lines(commands::kSlowLines, lines).text, "last");
  EXPECT_EQ(lines, (std::vector<std::string>{"before", "one", "two", "", "last"}));
  EXPECT_EQ(exec_lines(commands::kExit3, lines).text, "");
  EXPECT_EQ(lines.size(), 5u);
}

MAIN_TYPED_TEST(ExecOf, SystemPassesTheOutputOnAndGivesTheLastLine) {
  std::vector<std::string> pieces;
  const auto sink = [&](std::string_view piece) { pieces.emplace_back(piece); };
  EXPECT_EQ(exec_tee(commands::kSlowLines, sink).text, "last");
  EXPECT_EQ(pieces, (std::vector<std::string>{"one \ntw", "o\n\nlast  ", " "}));
}

MAIN_TYPED_TEST(ExecOf, PassthruPassesTheOutputOnAsItIs) {
  FERMATA_CHECKS("EXE-01");
  std::string all;
  const ExecResult result = exec_to(commands::kALot, [&](std::string_view piece) {
    suspend();
    all += piece;
  });
  EXPECT_EQ(all, std::string(300'000, '\0'));
  EXPECT_EQ(result.text, "");
  EXPECT_TRUE(result.exit.success());
}

MAIN_TYPED_TEST(ExecOf, ShellExecGivesAllBytes) {
  FERMATA_CHECKS("EXE-01");
  EXPECT_EQ(exec_output(commands::kSlowLines).text, "one \ntwo\n\nlast   ");
  EXPECT_EQ(exec_output(commands::kALot).text, std::string(300'000, '\0'));
  EXPECT_EQ(exec_output(commands::kExit3).text, "");
}

MAIN_TYPED_TEST(ExecOf, TheResultSaysHowTheShellEnded) {
  FERMATA_CHECKS("EXE-02");
  EXPECT_EQ(exec(commands::kHello).exit, ProcessExit::exited(0));
  EXPECT_EQ(exec(commands::kExit3).exit, ProcessExit::exited(3));
  EXPECT_EQ(exec(commands::kKillsItself).exit, ProcessExit::killed(SIGKILL));
  EXPECT_EQ(exec(commands::kNone, {.capture_errors = true}).exit, ProcessExit::exited(127));
}

MAIN_TYPED_TEST(ExecOf, ComplaintsAreKeptWhenAskedFor) {
  const ExecResult result = exec_output(commands::kBothStreams, {.capture_errors = true});
  EXPECT_EQ(result.text, "out");
  EXPECT_EQ(result.errors, "err");
}

MAIN_TYPED_TEST(ExecOf, TheEnvironmentAndTheDirectoryAreTheCommands) {
  EXPECT_EQ(exec(commands::kGreets, {.environment = {{"GREETING=moin"}}}).text, "moin");
  EXPECT_EQ(exec(commands::kWhere, {.directory = "/usr"}).text, "/usr");
}

MAIN_TYPED_TEST(ExecOf, OutputThatOutlivesTheShellIsWaitedFor) {
  FERMATA_CHECKS("EXE-01");
  const ExecResult result = exec_output(commands::kShortGrandchild);
  EXPECT_EQ(result.text, "earlylate");
  EXPECT_FALSE(result.cut_off);
}

MAIN_TYPED_TEST(ExecOf, OutputThatDoesNotEndIsCutOff) {
  for (const Duration grace : {Duration(0), Duration(20ms)}) {
    const ExecResult result = exec_output(commands::kLongGrandchild, {.grace = grace});
    EXPECT_EQ(result.text, "early");
    EXPECT_TRUE(result.cut_off);
    EXPECT_EQ(result.exit.code(), 2);
  }
}

MAIN_TYPED_TEST(ExecOf, OneThatIsGivenUpLeavesNothingBehind) {
  FERMATA_CHECKS("EXE-03", "EXE-04");
  SignalWatch child_ends(SIGCHLD);
  EXPECT_THROW(exec(commands::kRests, {}, {.timeout = 10ms}), Timeout);
  child_ends.wait();
  auto waiter = spawn("waiter", [] { exec(commands::kRests); });
  delay(10ms);
  waiter.cancel();
  EXPECT_THROW(await(waiter), Cancellation);
  child_ends.wait();
  EXPECT_THROW(exec_to(commands::kALot, [](std::string_view) { throw Error("enough"); }), Error);
  child_ends.wait();
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
}

MAIN_TYPED_TEST(ExecOf, TheTimeoutCoversTheOutputToo) {
  EXPECT_THROW(exec(commands::kLongGrandchild, {.grace = 10s}, {.timeout = 50ms}), Timeout);
}

MAIN_TYPED_TEST(ExecOf, WhatMakesNoSenseIsRefused) {
  EXPECT_THROW(exec(commands::kHello, {.grace = -1ms}), UsageError);
  EXPECT_THROW(exec_to(commands::kHello, nullptr), UsageError);
  EXPECT_THROW(exec(std::string_view("a\0b", 3)), UsageError);
}

// --- what only real processes have ---

TEST(ExecInTheSystem, LeavesNoZombieAndNoOpenPipeWhenItIsGivenUp) {
  FERMATA_CHECKS("EXE-03");
  ProgramsOnUv::run([] {
    exec(commands::kHello);  // What is opened once and stays is open.
    const std::ptrdiff_t before = open_descriptors();
    for (const char* command : {commands::kRests, commands::kWritesForEver}) {
      const ExecOptions how{.capture_errors = true};
      const auto take = [](std::string_view) {};
      EXPECT_THROW(exec_to(command, take, how, {.timeout = 5ms}), Timeout);
    }
    while (::waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT) == 0) delay(1ms);
    EXPECT_EQ(errno, ECHILD);
    delay(1ms);
    EXPECT_EQ(open_descriptors(), before);
  });
  ProgramsOnUv::run(
      [] { EXPECT_THROW(exec(commands::kIgnoresTerm, {}, {.timeout = 20ms}), Timeout); });
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace fermata::conformance
