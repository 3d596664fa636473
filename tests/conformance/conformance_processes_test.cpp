// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/process.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/programs.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Arm>
class ProcessesOf : public ::testing::Test {};
TYPED_TEST_SUITE(ProcessesOf, Programs);

ProcessOptions shell(const char* command) {
  return {.program = "/bin/sh", .arguments = {"-c", command}};
}

ProcessOptions piped(const char* command) {
  ProcessOptions options = shell(command);
  options.input = options.output = options.errors = Stdio::Pipe;
  return options;
}

MAIN_TYPED_TEST(ProcessesOf, OneEndsWithACodeOrASignal) {
  FERMATA_CHECKS("EXE-02");
  EXPECT_EQ(Process::spawn({.program = "true"}).wait().exit_code(), 0);
  const ProcessExit three = Process::spawn(shell(commands::kExit3)).wait();
  EXPECT_EQ(three, ProcessExit::exited(3));
  EXPECT_EQ(three.code(), 3);
  EXPECT_FALSE(three.success());
  const ProcessExit killed = Process::spawn(shell(commands::kKillsItself)).wait();
  EXPECT_EQ(killed.signal(), SIGKILL);
  EXPECT_EQ(killed.exit_code(), std::nullopt);
  EXPECT_EQ(killed.code(), -SIGKILL);
}

MAIN_TYPED_TEST(ProcessesOf, AnEndIsToldOnceWheneverOneAsks) {
  FERMATA_CHECKS("PROC-01", "PROC-03");
  Process process = Process::spawn(shell(commands::kExit3));
  int told = 0;
  const Subscription early = subscribe(process.event(), [&](Event& event, const Outcome&) {
    EXPECT_TRUE(event.is_closed());
    ++told;
  });
  std::vector<Coroutine<int>> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.push_back(spawn("waiter", [&] { return process.wait().code(); }));
  }
  for (const auto& waiter : waiters) EXPECT_EQ(await(waiter), 3);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(process.wait({.timeout = 0ms}).code(), 3);
  delay(5ms);
  EXPECT_EQ(told, 1);
}

MAIN_TYPED_TEST(ProcessesOf, AnEndThatNobodyWaitedForIsKept) {
  FERMATA_CHECKS("PROC-01");
  Process process = Process::spawn(shell(commands::kExit3));
  while (!process.is_ended()) delay(2ms);
  EXPECT_EQ(process.wait({.timeout = 0ms}).code(), 3);
  EXPECT_FALSE(process.kill());
}

MAIN_TYPED_TEST(ProcessesOf, OneIdHasOneEvent) {
  FERMATA_CHECKS("PROC-03");
  Process process = Process::spawn(shell(commands::kRestsAWhile));
  Process same = Process::watch(process.pid());
  EXPECT_EQ(&process.event(), &same.event());
  EXPECT_EQ(same.wait().code(), 0);
  EXPECT_TRUE(process.is_ended());
}

MAIN_TYPED_TEST(ProcessesOf, OneThatIsNoChildHasAnUnknownEnd) {
  Process process = Process::spawn({.program = "true"});
  process.wait();
  Process late = Process::watch(process.pid());
  const ProcessExit exit = late.wait();
  EXPECT_FALSE(exit.is_known());
  EXPECT_EQ(exit.code(), -1);
  EXPECT_EQ(error_of([] { (void)Process::watch(0); }, 0),
            "process 0: expected an id of more than 0");
}

MAIN_TYPED_TEST(ProcessesOf, PipesCarryBothWays) {
  Process cat = Process::spawn({.program = "cat", .input = Stdio::Pipe, .output = Stdio::Pipe});
  cat.input().write("through and ");
  cat.input().write("back");
  cat.input().close();
  EXPECT_EQ(read_to_end(cat.output()), "through and back");
  EXPECT_TRUE(cat.wait().success());
  EXPECT_EQ(error_of([&] { (void)cat.errors(); }, 0), "process: its errors is not a pipe");
}

MAIN_TYPED_TEST(ProcessesOf, MoreThanAPipeHoldsGoesThrough) {
  FERMATA_CHECKS("EXE-01");
  Process cat = Process::spawn({.program = "cat", .input = Stdio::Pipe, .output = Stdio::Pipe});
  std::string text(300'000, 'x');
  for (std::size_t i = 0; i < text.size(); i += 7) text[i] = static_cast<char>('a' + i % 26);
  auto writer = spawn("writer", [&] {
    cat.input().write(text);
    cat.input().close();
  });
  EXPECT_EQ(read_to_end(cat.output()), text);
  await(writer);
  EXPECT_TRUE(cat.wait().success());
}

MAIN_TYPED_TEST(ProcessesOf, OutputAndErrorsAreApart) {
  Process process = Process::spawn(piped(commands::kBothStreams));
  EXPECT_EQ(read_to_end(process.output()), "out");
  EXPECT_EQ(read_to_end(process.errors()), "err");
  EXPECT_TRUE(process.wait().success());
}

MAIN_TYPED_TEST(ProcessesOf, AnIgnoredInputHasEnded) {
  Process cat = Process::spawn({.program = "cat", .input = Stdio::Ignore, .output = Stdio::Pipe});
  EXPECT_EQ(read_to_end(cat.output()), "");
  EXPECT_TRUE(cat.wait().success());
}

MAIN_TYPED_TEST(ProcessesOf, EnvironmentAndDirectoryAreTheChilds) {
  ProcessOptions options = piped(commands::kGreets);
  options.environment = {{"GREETING=moin", "PATH=/bin"}};
  Process greets = Process::spawn(options);
  EXPECT_EQ(read_to_end(greets.output()), "moin");
  EXPECT_TRUE(greets.wait().success());
  options = piped(commands::kWhere);
  options.directory = "/usr";
  Process where = Process::spawn(options);
  EXPECT_EQ(read_to_end(where.output()), "/usr\n");
  EXPECT_TRUE(where.wait().success());
}

MAIN_TYPED_TEST(ProcessesOf, AMissingProgramIsToldAtOnceAndLeavesNothing) {
  FERMATA_CHECKS("EXE-02");
  for (const Stdio kind : {Stdio::Ignore, Stdio::Pipe}) {
    const ProcessOptions options{
        .program = "/no/such/program", .input = kind, .output = kind, .errors = kind};
    EXPECT_EQ(error_of([&] { (void)Process::spawn(options); }, ENOENT),
              "spawn /no/such/program: No such file or directory");
  }
}

MAIN_TYPED_TEST(ProcessesOf, WhatCannotBeStartedIsTheCallersMistake) {
  const auto spawning = [](ProcessOptions options) {
    return error_of([&] { (void)Process::spawn(options); }, 0);
  };
  EXPECT_EQ(spawning({}), "spawn: expected the name of a program");
  EXPECT_EQ(spawning({.program = "cat", .arguments = {std::string("a\0b", 3)}}),
            "spawn cat: argument 'a': expected no NUL, there is one at 1");
  EXPECT_EQ(spawning({.program = "cat", .environment = {{"=x"}}}),
            "spawn cat: environment '=x': expected NAME=value");
}

MAIN_TYPED_TEST(ProcessesOf, AKilledOneEndsWithItsSignal) {
  FERMATA_CHECKS("EXE-02");
  for (const int signum : {SIGTERM, SIGKILL, SIGUSR1}) {
    Process process = Process::spawn(shell(commands::kRests));
    EXPECT_TRUE(process.kill(0));
    EXPECT_TRUE(process.kill(signum));
    EXPECT_EQ(process.wait(), ProcessExit::killed(signum));
    EXPECT_FALSE(process.kill(signum));
    EXPECT_EQ(error_of([&] { process.kill(-1); }, 0),
              "kill process " + std::to_string(process.pid()) + ": signal -1: expected 0 to 64");
  }
}

MAIN_TYPED_TEST(ProcessesOf, OneMayIgnoreASignal) {
  Process process = Process::spawn(piped(commands::kIgnoresTerm));
  std::string ready(6, '\0');
  process.output().read_exact(std::as_writable_bytes(std::span(ready)));
  EXPECT_TRUE(process.kill(SIGTERM));
  EXPECT_EQ(process.wait(), ProcessExit::exited(4));
}

MAIN_TYPED_TEST(ProcessesOf, AWaitThatIsGivenUpLeavesTheProcessAlone) {
  Process process = Process::spawn(shell(commands::kRestsAWhile));
  EXPECT_THROW(process.wait({.timeout = 1ms}), Timeout);
  auto waiter = spawn("waiter", [&] { process.wait(); });
  suspend();
  waiter.cancel();
  EXPECT_THROW(await(waiter), Cancellation);
  EXPECT_TRUE(process.wait().success());
}

MAIN_TYPED_TEST(ProcessesOf, OneIsAnItemAmongOthers) {
  std::vector<Process> both;
  both.push_back(Process::spawn(shell(commands::kExit3)));
  both.push_back(Process::spawn(shell(commands::kRestsAWhile)));
  const std::vector<Event*> events{&both[0].event(), &both[1].event()};
  when_all(events);
  EXPECT_EQ(both[0].result().code(), 3);
  EXPECT_EQ(both[1].result().code(), 0);
}

MAIN_TYPED_TEST(ProcessesOf, OneThatNobodyWaitsForIsNoActivity) {
  FERMATA_CHECKS("CLOSE-04");
  std::array<int, 2> pids{};
  {
    const Process one = Process::spawn(shell(commands::kRestsAWhile));
    const Process other = Process::spawn(shell(commands::kRestsAWhile));
    EXPECT_EQ(current_runtime().active_event_count(), 0u);
    pids = {one.pid(), other.pid()};
  }
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
  // Whoever ends the run before leaves children that nobody reaps.
  for (const int pid : pids) {
    while (Process::watch(pid).kill(0)) delay(1ms);
  }
}

MAIN_TYPED_TEST(ProcessesOf, OneWithAnOwnerEndsWithIt) {
  ProcessOptions options = piped(commands::kRests);
  options.terminate_when_dropped = true;
  std::optional owner(Process::spawn(options));
  std::optional other(Process::watch(owner->pid()));
  PipeStream output = std::move(owner->output());
  owner.reset();
  EXPECT_TRUE(other->kill(0));
  other.reset();
  EXPECT_EQ(read_to_end(output), "");
}

MAIN_TYPED_TEST(ProcessesOf, OthersSeeTheChildSignalToo) {
  FERMATA_CHECKS("SIG-01");
  SignalWatch watch(SIGCHLD);
  Process process = Process::spawn(shell(commands::kExit3));
  watch.wait();
  process.wait();
  Process next = Process::spawn(shell(commands::kExit3));
  watch.wait();
  EXPECT_EQ(next.wait().code(), 3);
}

MAIN_TYPED_TEST(ProcessesOf, ABrokenPipeKillsTheWriter) {
  Process process = Process::spawn(piped(commands::kWritesForEver));
  std::string some(10, '\0');
  process.output().read_exact(std::as_writable_bytes(std::span(some)));
  process.output().close();
  EXPECT_EQ(process.wait(), ProcessExit::killed(SIGPIPE));
}

MAIN_TYPED_TEST(ProcessesOf, WritingToOneThatHasEndedFails) {
  Process process = Process::spawn(piped(commands::kExit3));
  process.wait();
  EXPECT_EQ(error_of([&] { process.input().write("x"); }, EPIPE), "write: Broken pipe");
}

// --- what only real processes have ---

/// No test of this program may leave a child: others wait for all children to be gone.
class ChildrenLeftBehind : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo&) override {
    siginfo_t child{};
    const int found = ::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT);
    EXPECT_EQ(found, -1) << "a child is left, " << child.si_pid << " (0: it runs)";
    EXPECT_EQ(errno, ECHILD);
  }
};

[[maybe_unused]] const bool looks_for_children = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new ChildrenLeftBehind);
  return true;
}();

/// A child that this process made behind the runtime's back, and that waits for `go`.
struct ForkedChild {
  ForkedChild() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid = ::fork();
    if (pid == 0) {
      char byte = 0;
      ::close(ends[1]);
      static_cast<void>(!::read(ends[0], &byte, 1));
      ::_exit(5);
    }
    ::close(ends[0]);
    go = ends[1];
  }
  // Later children have inherited the pipe: only a byte ends this one.
  void end() const {
    EXPECT_EQ(::write(go, "x", 1), 1);
    ::close(go);
  }
  pid_t pid = 0;
  int go = -1;
};

TEST(ProcessesOfOthers, AreNotReaped) {
  FERMATA_CHECKS("PROC-02");
  const ForkedChild stranger;
  const ForkedChild watched;
  ProgramsOnUv::run([&] {
    const Process never_waited_for = Process::watch(watched.pid);
    stranger.end();
    watched.end();
    for (int i = 0; i < 3; ++i) Process::spawn(shell(commands::kExit3)).wait();
  });
  for (const ForkedChild& child : {stranger, watched}) {
    int status = 0;
    ASSERT_EQ(::waitpid(child.pid, &status, 0), child.pid);
    EXPECT_EQ(WEXITSTATUS(status), 5);
  }
}

TEST(ProcessesOfOthers, CanBeWaitedFor) {
  FERMATA_CHECKS("PROC-01");
  const ForkedChild before;
  const ForkedChild during;
  before.end();
  ::usleep(20'000);
  ProgramsOnUv::run([&] {
    EXPECT_EQ(Process::watch(before.pid).wait(), ProcessExit::exited(5));
    auto waiter = spawn("waiter", [&] { return Process::watch(during.pid).wait(); });
    suspend();
    during.end();
    EXPECT_EQ(await(waiter), ProcessExit::exited(5));
  });
}

TEST(ProcessesOfOthers, FindTheDispositionOfTheChildSignalAsItWas) {
  FERMATA_CHECKS("SIG-01", "SIG-04");
  struct sigaction before = {};
  before.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGCHLD, &before, nullptr), 0);
  const auto handler = [] {
    struct sigaction now = {};
    ::sigaction(SIGCHLD, nullptr, &now);
    return now.sa_handler;
  };
  ProgramsOnUv::run([&] {
    Process process = Process::spawn(shell(commands::kExit3));
    EXPECT_NE(handler(), before.sa_handler);
    process.wait();
    EXPECT_EQ(handler(), before.sa_handler);
  });
  ::signal(SIGCHLD, SIG_DFL);
}

TEST(ProcessesOfOthers, ADroppedChildLeavesNoZombie) {
  int pid = 0;
  ProgramsOnUv::run([&] {
    pid = Process::spawn(shell(commands::kExit3)).pid();
    while (::kill(pid, 0) == 0) delay(1ms);
  });
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
}

TEST(ProcessesOfOthers, WhoIgnoresItsOwnersEndIsKilledWithTheProgram) {
  int pid = 0;
  ProgramsOnUv::run([&] {
    ProcessOptions options = piped(commands::kIgnoresTerm);
    options.terminate_when_dropped = true;
    Process process = Process::spawn(options);
    std::string ready(6, '\0');
    process.output().read_exact(std::as_writable_bytes(std::span(ready)));
    pid = process.pid();
  });
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace fermata::conformance
