// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/process/processes.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/exec.hpp"
#include "fermata/io/process.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::only;

class SimProcessesTest : public test::OneWorldFixture {
 protected:
  SimProcessesTest() { options_.full_audit = true; }
};

ProcessOptions with_output(std::string program) {
  return {.program = std::move(program), .output = Stdio::Pipe};
}

std::string read_to_end(ByteStream& stream) {
  std::string text;
  std::string buffer(1000, '\0');
  while (const std::size_t size = stream.read(std::as_writable_bytes(std::span(buffer)))) {
    text += buffer.substr(0, size);
  }
  return text;
}

MAIN_TEST_F(SimProcessesTest, AScriptTakesItsTime) {
  world_.program("worker", ScriptedProgram().takes(20ms).says("a").takes(30ms).exits(7));
  Process worker = Process::spawn(with_output("worker"));
  const Instant began = now();
  std::string byte(1, '\0');
  worker.output().read_exact(std::as_writable_bytes(std::span(byte)));
  EXPECT_GE(now() - began, 20ms);
  EXPECT_EQ(worker.wait().code(), 7);
  EXPECT_GE(now() - began, 50ms);
  EXPECT_LT(now() - began, 60ms);
}

MAIN_TEST_F(SimProcessesTest, ACommandIsLookedUpAsAWhole) {
  world_.program("make all", [](const ProcessOptions& options) {
    return ScriptedProgram().says("in " + options.directory);
  });
  EXPECT_EQ(exec("make all", {.directory = "/src"}).text, "in /src");
  const ExecResult none = exec("make none", {.capture_errors = true});
  EXPECT_EQ(none.exit.code(), 127);
  EXPECT_EQ(none.errors, "sh: 1: make none: not found\n");
}

TEST_F(SimProcessesTest, ProgramsAreThoseOfTheRun) {
  run([this] { world_.program("once", ScriptedProgram()); });
  run([] { EXPECT_THROW((void)Process::spawn({.program = "once"}), InputOutputError); });
}

TEST_F(SimProcessesTest, AMachineMayHaveNoRoomForAProcess) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    run(only(Fault::SpawnFailure), seed, [&] {
      world_.program("worker", ScriptedProgram());
      for (int i = 0; i < 10; ++i) {
        try {
          EXPECT_TRUE(Process::spawn({.program = "worker"}).wait().success());
        } catch (const InputOutputError& error) {
          EXPECT_EQ(error.code(), EAGAIN);
          EXPECT_STREQ(error.what(), "spawn worker: Resource temporarily unavailable");
          ++refused;
        }
      }
    });
  }
  EXPECT_GT(refused, 20u);
}

TEST_F(SimProcessesTest, APipeMayFindNoDescriptor) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    run(only(Fault::OutOfDescriptors), seed, [&] {
      world_.program("worker", ScriptedProgram().says("x"));
      for (int i = 0; i < 10; ++i) {
        try {
          Process worker = Process::spawn(with_output("worker"));
          EXPECT_EQ(read_to_end(worker.output()), "x");
        } catch (const InputOutputError& error) {
          EXPECT_EQ(error.code(), EMFILE);
          EXPECT_STREQ(error.what(), "open a pipe: Too many open files");
          ++refused;
        }
      }
    });
  }
  EXPECT_GT(refused, 20u);
}

TEST_F(SimProcessesTest, OutputThatIsThereIsReadHoweverBusyTheLoopIs) {
  std::uint64_t busy = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    run(only(Fault::Busy), seed, [&] {
      world_.program("make", ScriptedProgram().says("made"));
      EXPECT_EQ(exec("make").text, "made");
    });
    busy += count(Fault::Busy);
  }
  EXPECT_GT(busy, 20u);
}

// In one turn of the loop somebody writes more, the grace ends, and what was there is still there.
TEST_F(SimProcessesTest, OutputThatIsThereIsReadWhateverComesNext) {
  FERMATA_CHECKS("EXE-01");
  FaultSet faults = only(Fault::Busy);
  faults.add(Fault::ShortRead);
  std::uint64_t cut_off = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    run(faults, seed, [&] {
      world_.program("forks", ScriptedProgram().says("before it ends").leaves_behind(3ms, "after"));
      const ExecResult result = exec_output("forks", {.grace = 0ms});
      EXPECT_EQ(result.text.substr(0, 14), "before it ends") << "seed " << seed;
      cut_off += result.cut_off ? 1 : 0;
    });
  }
  EXPECT_GT(cut_off, 1'000u);
}

TEST_F(SimProcessesTest, AnEndMayBeNoticedLate) {
  std::uint64_t late = 0;
  std::uint64_t slow = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    run(only(Fault::SlowExit), seed, [&] {
      world_.program("worker", ScriptedProgram().says("x"));
      for (int i = 0; i < 5; ++i) {
        Process worker = Process::spawn(with_output("worker"));
        EXPECT_EQ(read_to_end(worker.output()), "x");
        const Instant ended = now();
        EXPECT_TRUE(worker.wait().success());
        late += now() - ended > 100us ? 1 : 0;
      }
    });
    slow += count(Fault::SlowExit);
  }
  EXPECT_GT(slow, 20u);
  EXPECT_EQ(late, slow);
}

MAIN_TEST_F(SimProcessesTest, AnEndMayComeBeforeTheEndOfTheOutput) {
  FERMATA_CHECKS("EXE-01");
  world_.program("forks", ScriptedProgram().says("a").leaves_behind(10ms, "b").exits(1));
  Process forks = Process::spawn(with_output("forks"));
  EXPECT_EQ(forks.wait().code(), 1);
  EXPECT_EQ(read_to_end(forks.output()), "ab");
  EXPECT_EQ(exec_output("forks").text, "ab");
}

TEST_F(SimProcessesTest, ShellExecLosesNothingUnderAnyFault) {
  FERMATA_CHECKS("EXE-01", "EXE-05");
  FaultSet faults = only(Fault::SlowExit);
  faults.add(Fault::ShortRead);
  faults.add(Fault::TimerLate);
  faults.add(Fault::SlowClose);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    run(faults, seed, [this] {
      world_.program("lists", ScriptedProgram()
                                  .says("one\ntwo")
                                  .takes(1ms)
                                  .says(" and a half\n")
                                  .leaves_behind(2ms, "three"));
      std::vector<std::string> lines;
      const ExecResult result = exec_lines("lists", lines);
      EXPECT_EQ(lines, (std::vector<std::string>{"one", "two and a half", "three"}));
      EXPECT_FALSE(result.cut_off);
      EXPECT_EQ(exec_output("lists").text, "one\ntwo and a half\nthree");
    });
  }
}

MAIN_TEST_F(SimProcessesTest, ExecMayBeInterruptedEverywhere) {
  FERMATA_CHECKS("EXE-03", "EXE-04", "CLOSE-04");
  world_.program("lists", ScriptedProgram().says("one\ntwo").takes(1ms).complains("oh").exits(3));
  const SweepCounts counts = world_.sweep_cancellation(
      [] {
        const ExecResult result = exec("lists", {.capture_errors = true}, {.timeout = 1h});
        if (result.cut_off) return;  // The interruption was the end of the grace.
        EXPECT_EQ(result.text, "two");
        EXPECT_EQ(result.errors, "oh");
      },
      {.then = [] { EXPECT_EQ(exec("lists").text, "two"); },
       .check = [] { EXPECT_EQ(current_runtime().active_event_count(), 0u); }});
  EXPECT_GT(counts.cancellations, 2u);
  EXPECT_GT(counts.timeouts, 0u);
}

MAIN_TEST_F(SimProcessesTest, AWaitMayBeInterruptedEverywhere) {
  FERMATA_CHECKS("PROC-01", "PROC-03");
  world_.program("worker", ScriptedProgram().takes(1ms).exits(4));
  std::shared_ptr<Process> worker;
  world_.sweep_cancellation(
      [&] {
        worker = std::make_shared<Process>(Process::spawn({.program = "worker"}));
        auto other = spawn("other", [worker] { return worker->wait().code(); });
        EXPECT_EQ(worker->wait({.timeout = 1h}).code(), 4);
        EXPECT_EQ(await(other), 4);
      },
      {.then = [&] { EXPECT_EQ(worker->wait().code(), 4); }});
}

TEST_F(SimProcessesTest, ManyEndsAtOnceAreAllTold) {
  FERMATA_CHECKS("PROC-01");
  FaultSet faults = FaultSet::all();
  faults.remove(Fault::SpawnFailure);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    run(faults, seed, [this] {
      world_.program("worker", ScriptedProgram().takes(5ms).exits(1));
      std::vector<Process> workers;
      std::set<int> ids;
      for (int i = 0; i < 10; ++i) {
        workers.push_back(Process::spawn({.program = "worker"}));
        ids.insert(workers.back().pid());
      }
      EXPECT_EQ(ids.size(), 10u);
      for (Process& each : workers) EXPECT_EQ(each.wait().code(), 1);
    });
    if (HasFailure()) return;
  }
}

MAIN_TEST_F(SimProcessesTest, ASignalTakesAWhileToKill) {
  world_.program("stubborn", ScriptedProgram().ignores(SIGTERM).takes(1h));
  Process stubborn = Process::spawn({.program = "stubborn"});
  delay(20ms);
  EXPECT_TRUE(stubborn.kill(SIGTERM));
  EXPECT_TRUE(stubborn.kill(SIGCHLD));
  EXPECT_THROW(stubborn.wait({.timeout = 1s}), Timeout);
  EXPECT_TRUE(stubborn.kill(SIGKILL));
  EXPECT_FALSE(stubborn.is_ended());
  EXPECT_EQ(stubborn.wait(), ProcessExit::killed(SIGKILL));
}

TEST_F(SimProcessesTest, ChildrenDieWithTheirMachine) {
  begin();
  int started = 0;
  world_.node("main", [&] {
    world_.program("worker", [&](const ProcessOptions&) {
      ++started;
      return ScriptedProgram().takes(started == 1 ? 1h : 1ms).exits(started);
    });
    EXPECT_EQ(Process::spawn({.program = "worker"}).wait().code(), 2);
  });
  world_.at(10ms, [&] {
    world_.node("main").crash();
    world_.node("main").restart();
  });
  world_.run();
  ASSERT_FALSE(world_.failure()) << world_.failure()->message;
  EXPECT_EQ(started, 2);
  EXPECT_LT(world_.now(), Instant{} + 1s);
}

TEST_F(SimProcessesTest, OneThatNobodyFeedsStallsItsWaiter) {
  begin();
  world_.node("main", [&] {
    world_.program("cat", ScriptedProgram().copies_input());
    Process cat = Process::spawn({.program = "cat", .input = Stdio::Pipe});
    cat.wait();
  });
  world_.run();
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Liveness);
}

}  // namespace
}  // namespace fermata::sim
