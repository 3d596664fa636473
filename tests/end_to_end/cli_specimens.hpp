// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tool `fermata` as its users meet it, and a folder of its own for each test of it.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "tests/meta/process.hpp"

namespace fermata::testing {

inline std::string tool() { return FERMATA_BINARY_DIR "/fermata"; }

inline std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Cli : public ::testing::Test {
 protected:
  Cli() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Cli() override { std::filesystem::remove_all(folder_); }

  /// `fermata run` of one specimen of this very program, with the output folder `out`.
  [[nodiscard]] Finished run(const std::string& specimen, const std::string& flags = "",
                             const std::string& out = "out") const {
    return run_shell(command(specimen, flags, out));
  }
  /// Runs it too, and expects it to end with `exit_code`.
  [[nodiscard]] Finished run_to(int exit_code, const std::string& specimen,
                                const std::string& flags = "",
                                const std::string& out = "out") const {
    Finished finished = run(specimen, flags, out);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.output;
    return finished;
  }
  [[nodiscard]] std::string command(const std::string& specimen, const std::string& flags,
                                    const std::string& out = "out") const {
    return tool() + " run " + sim::detail::program_path() +
           " --disabled --filter=Specimen.DISABLED_" + specimen + " --out " + folder_ + "/" + out +
           " " + flags;
  }

  /// A program that is a shell script.
  [[nodiscard]] std::string script(const std::string& body) const {
    std::string path = folder_ + "/script";
    std::ofstream(path) << "#!/bin/sh\n" << body << '\n';
    ::chmod(path.c_str(), 0755);
    return path;
  }

  /// Runs `command`, and sends its whole process group a signal as soon as `folder` has `count`
  /// files: work done, and not time, says when, however fast the machine is.
  [[nodiscard]] static Finished run_until(const std::string& folder, int count,
                                          const std::string& command,
                                          const std::string& signal = "KILL") {
    return run_shell("setsid " + command + " & worker=$!; tries=0\n" +
                     "while [ $((tries += 1)) -lt 20000 ] && [ $(find " + folder +
                     " -type f | wc -l) -lt " + std::to_string(count) +
                     " ]; do sleep 0.001; done\n" + "kill -s " + signal +
                     " -- -$worker; wait $worker");
  }

  void expect_refused(const std::string& command, const std::string& message) const {
    const Finished finished = run_shell(command);
    EXPECT_EQ(finished.exit_code, 1) << command << '\n' << finished.output;
    EXPECT_NE(finished.output.find(message), std::string::npos) << command << '\n'
                                                                << finished.output;
    EXPECT_LT(finished.output.size(), 20'000u);
  }

  /// The result without what differs from place to place.
  [[nodiscard]] std::string result(const std::string& json) const {
    std::string text = contents_of(folder_ + "/" + json);
    text = std::regex_replace(text, std::regex("\"elapsed_ms\":[0-9]+"), "");
    text = std::regex_replace(text, std::regex("\"shard\":[0-9]+,\"shards\":[0-9]+"), "");
    return std::regex_replace(text, std::regex(folder_ + "/[a-z0-9]+/"), "OUT/");
  }

  std::string folder_ = ::testing::TempDir() + "fermata_cli_" +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

}  // namespace fermata::testing
