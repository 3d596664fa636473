// SPDX-License-Identifier: Apache-2.0

// Usage: example_job_runner [COMMAND...]. Runs the commands, or a few of its own, two at a time.

#include <cstdio>
#include <fermata/uv/reactor.hpp>

#include "examples/job_runner/job_runner.hpp"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  std::vector<std::string> commands(argv + 1, argv + argc);
  if (commands.empty()) commands = {"echo one", "sleep 0.05; echo two", "exit 3", "sleep 60"};
  const JobLimits limits{.at_a_time = 2, .attempts = 2, .deadline = 500ms};
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([&] {
    for (const JobReport& report : run_jobs(commands, limits)) {
      std::printf("%s: %s\n%s", report.command.c_str(), report.done ? "done" : "failed",
                  report.output.c_str());
      for (const std::string& failure : report.failures) std::printf("  %s\n", failure.c_str());
    }
  });
}
