// SPDX-License-Identifier: Apache-2.0

// Jobs that succeed, fail, hang and do not want to end, on a machine that is sometimes out of
// processes: each is reported once, in order, with its whole output.

#include <csignal>
#include <fermata/sim.hpp>
#include <string>
#include <utility>
#include <vector>

#include "examples/job_runner/job_runner.hpp"

namespace {

using namespace std::chrono_literals;
using fermata::ProcessOptions;
using fermata::sim::ScriptedProgram;

/// The machine had no room for a process, or for its pipe, or no time for this program.
bool is_bad_luck(const std::string& failure) {
  return failure == "spawn /bin/sh: Resource temporarily unavailable" ||
         failure == "open a pipe: Too many open files" || failure == "not done in time";
}

SIM_TEST(JobRunner, ReportsEachJobInOrderWithItsWholeOutput) {
  world.program("quick", ScriptedProgram().takes(5ms).says("quick\n"));
  world.program("slow", ScriptedProgram().says("begun\n").takes(80ms).says("done\n"));
  world.program("hangs", ScriptedProgram().says("begun\n").ignores(SIGTERM).takes(10h));
  world.program("fails", ScriptedProgram().says("half").exits(3));
  bool crashed = false;
  world.program("flaky", [&crashed](const ProcessOptions&) {
    if (std::exchange(crashed, true)) return ScriptedProgram().says("at last\n");
    return ScriptedProgram().dies_of(SIGSEGV);
  });
  const std::vector<std::string> commands{"slow", "quick", "hangs", "fails", "flaky"};
  const std::vector<std::string> outputs{"begun\ndone\n", "quick\n", "", "", "at last\n"};
  const std::vector<std::string> failures{"", "", "", "exit code 3", "killed by signal 11"};
  const JobLimits limits{.at_a_time = 2, .attempts = 3, .deadline = 2s};

  const std::vector<JobReport> reports = run_jobs(commands, limits);

  ASSERT_EQ(reports.size(), commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const JobReport& report = reports[i];
    EXPECT_EQ(report.command, commands[i]);
    EXPECT_EQ(report.output, report.done ? outputs[i] : "");
    EXPECT_EQ(report.done, report.failures.size() < limits.attempts);
    for (const std::string& failure : report.failures) {
      EXPECT_TRUE(failure == failures[i] || is_bad_luck(failure)) << failure;
    }
    EXPECT_FALSE(report.done && outputs[i].empty()) << report.command;
  }
}

}  // namespace
