// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs shell commands as jobs: so many at a time, each with a deadline and a few attempts, and
// reports how they went in the order in which they were given.

#include <chrono>
#include <csignal>
#include <fermata/runtime.hpp>
#include <span>
#include <string>
#include <vector>

struct JobLimits {
  std::size_t at_a_time = 4;
  std::size_t attempts = 3;
  std::chrono::milliseconds deadline{1000};  // Of one attempt.
  std::chrono::milliseconds grace{100};      // From asking it to end to killing it.
  std::chrono::milliseconds pause{10};       // Between attempts.
};

struct JobReport {
  std::string command;
  bool done = false;
  std::string output;  // Of the attempt that succeeded.
  std::vector<std::string> failures;
};

/// Asks `process` to end, and kills it when it does not.
inline void stop(fermata::Process& process, std::chrono::milliseconds grace) {
  process.kill(SIGTERM);
  try {
    process.wait({.timeout = grace});
  } catch (const fermata::Timeout&) {
    process.kill(SIGKILL);
    process.wait();
  }
}

/// One attempt. Throws fermata::Error when it fails; in either case the process has ended.
inline std::string attempt(const std::string& command, const JobLimits& limits) {
  fermata::Process process = fermata::Process::spawn({.program = "/bin/sh",
                                                      .arguments = {"-c", command},
                                                      .input = fermata::Stdio::Ignore,
                                                      .output = fermata::Stdio::Pipe,
                                                      .terminate_when_dropped = true});
  const auto deadline = fermata::make_timeout(limits.deadline);
  const fermata::WaitOptions in_time{.token = deadline.get()};
  try {
    std::string output;
    std::string buffer(4096, '\0');
    // Until the output ends. It would not do to read until the process has ended: what it wrote
    // last is still in the pipe then.
    while (true) {
      const auto room = std::as_writable_bytes(std::span(buffer));
      const std::size_t size = process.output().read(room, in_time);
      if (size == 0) break;
      output.append(buffer, 0, size);
    }
    const fermata::ProcessExit exit = process.wait(in_time);
    if (!exit.success()) throw fermata::Error(exit.text());
    return output;
  } catch (const fermata::OperationCancelled&) {
    stop(process, limits.grace);
    throw fermata::Timeout("not done in time");
  }
}

inline JobReport run_job(const std::string& command, const JobLimits& limits) {
  JobReport report{.command = command};
  while (!report.done && report.failures.size() < limits.attempts) {
    if (!report.failures.empty()) fermata::delay(limits.pause);
    try {
      report.output = attempt(command, limits);
      report.done = true;
    } catch (const fermata::Error& error) {
      report.failures.emplace_back(error.what());
    }
  }
  return report;
}

/// The reports are in the order of `commands`.
inline std::vector<JobReport> run_jobs(const std::vector<std::string>& commands,
                                       const JobLimits& limits) {
  fermata::TaskGroup<JobReport> jobs({.concurrency = limits.at_a_time});
  for (const std::string& command : commands) {
    jobs.spawn([command, limits] { return run_job(command, limits); });
  }
  std::vector<JobReport> reports;
  for (const auto& [number, report] : fermata::await(jobs.all())) reports.push_back(report);
  return reports;
}
