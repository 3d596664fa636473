// SPDX-License-Identifier: Apache-2.0
#pragma once

// Other processes, as a person at a shell starts them, and what they print.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace fermata::testing {

struct Finished {
  int exit_code = -1;
  std::string output;  // Standard output and standard error, as they came.
};

/// Runs `command` with sh, in this folder, without the FERMATA_* variables that the tests run
/// under.
inline Finished run_shell(const std::string& command) {
  const std::string whole = "unset FERMATA_CHECKS_OUT FERMATA_OUT; (" + command + ") 2>&1";
  std::FILE* pipe = ::popen(whole.c_str(), "r");
  if (pipe == nullptr) return {};
  Finished finished;
  std::array<char, 4096> chunk;
  while (const std::size_t size = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    finished.output.append(chunk.data(), size);
  }
  const int status = ::pclose(pipe);
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

/// Whether it has printed `text`; with the whole output, where that is not as expected.
inline ::testing::AssertionResult says(const Finished& finished, const std::string& text) {
  const bool found = finished.output.find(text) != std::string::npos;
  return (found ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << "'" << text << "': " << finished.output;
}

/// What follows `prefix` on each line of `text` that begins with it.
inline std::vector<std::string> lines_with(const std::string& text, const std::string& prefix) {
  std::vector<std::string> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.substr(0, prefix.size()) == prefix) result.push_back(line.substr(prefix.size()));
  }
  return result;
}

/// The one line of `text` that begins with `prefix`, without it.
inline std::string line_with(const std::string& text, const std::string& prefix) {
  const std::vector<std::string> lines = lines_with(text, prefix);
  EXPECT_EQ(lines.size(), 1u) << "lines with '" << prefix << "' in:\n" << text;
  return lines.empty() ? std::string() : lines.front();
}

/// What must be the same wherever a failure comes back: class, message, coroutine, virtual time,
/// step, trace hash and signature.
inline std::string failure_part(const std::string& output) {
  const std::size_t begin = output.find("Failure\nFailed\n");
  const std::size_t end = output.find("\nreproduce: ");
  EXPECT_NE(begin, std::string::npos) << output;
  EXPECT_NE(end, std::string::npos) << output;
  // Alone it is run 1 of 1.
  return std::regex_replace(output.substr(begin, end - begin), std::regex(", run [0-9]+ of [0-9]+"),
                            "");
}

/// The simulated test of examples/lost_update.
inline std::string lost_update() {
  return FERMATA_BINARY_DIR "/examples/lost_update/example_lost_update_sim_test";
}

}  // namespace fermata::testing
