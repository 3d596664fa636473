// SPDX-License-Identifier: Apache-2.0

// An input that fails, which libFuzzer has found once, becomes a report, a tape and a line to
// paste, in a program of any compiler.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fermata/sim/tape/tape.hpp"
#include "tests/meta/process.hpp"

namespace fermata::testing {
namespace {

class Fuzz : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string out() const { return "FERMATA_OUT=" + folder_ + " "; }
  [[nodiscard]] Finished run_corpus() const {
    return run_shell(out() + kFuzz + canary() + " " FERMATA_SOURCE_DIR "/fuzz/corpus/canary");
  }
  static std::string canary() { return FERMATA_BINARY_DIR "/fuzz/fuzz_canary"; }

  static constexpr const char* kFuzz = "FERMATA_FUZZ=Canary.TheLockStaysShut ";
  std::string folder_ = ::testing::TempDir() + "fermata_fuzz_" +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(Fuzz, AnInputThatFailsIsReportedAndBecomesATape) {
  const Finished finished = run_corpus();
  EXPECT_EQ(finished.exit_code, 2) << finished.output;
  EXPECT_NE(finished.output.find("safety: fuzz/canary.cpp:"), std::string::npos) << finished.output;
  EXPECT_NE(finished.output.find("shrunk: "), std::string::npos) << finished.output;
  EXPECT_NE(finished.output.find("replayed 1 inputs, 1 failed"), std::string::npos)
      << finished.output;

  const Finished pasted = run_shell(out() + line_with(finished.output, "reproduce: "));
  EXPECT_EQ(pasted.exit_code, 2) << pasted.output;

  int tapes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    if (entry.path().extension() != ".tape") continue;
    ++tapes;
    EXPECT_TRUE(sim::load_tape(entry.path()).strategy.starts_with("bytes:"));
    const Finished replayed =
        run_shell(out() + "FERMATA_REPLAY=" + entry.path().string() + " " + canary());
    EXPECT_EQ(replayed.exit_code, 2) << replayed.output;
  }
  EXPECT_EQ(tapes, 2) << "as it was found, and made small";
}

TEST_F(Fuzz, InputsThatPassPass) {
  std::filesystem::create_directories(folder_ + "/inputs");
  std::ofstream(folder_ + "/inputs/calm");
  std::ofstream(folder_ + "/inputs/noise") << std::string(100, 'x');
  const Finished finished = run_shell(kFuzz + canary() + " " + folder_ + "/inputs");
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_NE(finished.output.find("replayed 2 inputs, 0 failed"), std::string::npos)
      << finished.output;
}

TEST_F(Fuzz, WhatMakesNoSenseIsRefused) {
  const auto refusal = [](const std::string& command) {
    const Finished finished = run_shell(command);
    EXPECT_EQ(finished.exit_code, 1) << finished.output;
    return finished.output;
  };
  EXPECT_NE(refusal(kFuzz + canary()).find("FERMATA_FUZZ: no inputs; expected files"),
            std::string::npos);
  EXPECT_NE(refusal(kFuzz + canary() + " no/such/folder")
                .find("no/such/folder: expected a file or a folder"),
            std::string::npos);
  EXPECT_NE(refusal("FERMATA_FUZZ=Canary.Sings " + canary() +
                    " " FERMATA_SOURCE_DIR "/fuzz/corpus/canary")
                .find("'Canary.Sings' is not a simulated test of this program"),
            std::string::npos);
  EXPECT_NE(refusal("FERMATA_FUZZ= " + canary()).find("FERMATA_FUZZ: expected Suite.Name"),
            std::string::npos);
  const Finished without =
      run_shell(out() + "FERMATA_FUZZ=Account.DepositsAreNotLost " + lost_update());
  EXPECT_NE(without.exit_code, 0);
  EXPECT_NE(without.output.find("this program has no fuzzer"), std::string::npos) << without.output;
}

}  // namespace
}  // namespace fermata::testing
