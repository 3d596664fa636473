// SPDX-License-Identifier: Apache-2.0

// What cannot be meant is refused with exit code 1 and a message that says what is wrong.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/meta/process.hpp"

namespace fermata::testing {
namespace {

void expect_refused(const std::string& command, const std::string& message) {
  const Finished finished = run_shell(command);
  EXPECT_EQ(finished.exit_code, 1) << command << '\n' << finished.output;
  EXPECT_NE(finished.output.find(message), std::string::npos) << command << '\n' << finished.output;
}

void expect_setting_refused(const std::string& setting, const std::string& message) {
  expect_refused(setting + " " + lost_update(), message);
}

TEST(Refusal, OfUnknownVariables) {
  expect_setting_refused("FERMATA_SEEED=1",
                         "unknown variable FERMATA_SEEED; docs/environment.md lists them");
  expect_setting_refused("FERMATA_=1", "unknown variable FERMATA_");
}

TEST(Refusal, OfBreakingWhereNobodyCouldCatchIt) {
  expect_setting_refused("FERMATA_BREAK_AT=0",
                         "FERMATA_BREAK_AT: 0 is too small; expected at least 1");
  expect_setting_refused("FERMATA_BREAK_AT=5",
                         "FERMATA_BREAK_AT: expected FERMATA_REPLAY=TAPE too");
  expect_setting_refused(
      "FERMATA_BREAK_AT=5 FERMATA_REPLAY=run.tape",
      "FERMATA_BREAK_AT: this process runs under no debugger; expected it to be");
}

TEST(Refusal, OfMalformedSeeds) {
  const std::string expected =
      "is not a valid seed; expected decimal digits, 0x and up to 16 hex digits, or 40 hex digits";
  for (const char* seed : {"''", "twelve", "-1", "0x", "0x12345678901234567", "1e3", "deadbeef",
                           "18446744073709551616", "'1 '"}) {
    expect_setting_refused(std::string("FERMATA_SEED=") + seed, expected);
  }
}

TEST(Refusal, OfMalformedValues) {
  expect_setting_refused("FERMATA_RUNS=0", "FERMATA_RUNS: 0 is too small; expected at least 1");
  expect_setting_refused("FERMATA_RUNS=many", "FERMATA_RUNS: 'many' is not a valid number");
  expect_setting_refused(
      "FERMATA_STRATEGY=pct",
      "FERMATA_STRATEGY: 'pct' is not a valid strategy; expected portfolio, random, urw, "
      "pos, pct:D");
  expect_setting_refused("FERMATA_TIME_LIMIT=5", "FERMATA_TIME_LIMIT: '5' is not a valid duration");
  expect_setting_refused("FERMATA_REPLAY_MODE=lax",
                         "FERMATA_REPLAY_MODE: 'lax' is unknown; expected strict or best");
  expect_setting_refused("FERMATA_FAULTS=gremlins", "FERMATA_FAULTS: ");
  expect_setting_refused("FERMATA_AUDIT=never", "expected adaptive or touched or full");
  expect_setting_refused("FERMATA_SHRINK=1", "FERMATA_SHRINK: '1' is unknown; expected auto or on");
}

TEST(Refusal, OfUnknownArguments) {
  expect_refused(lost_update() + " --seed=3", "unknown argument '--seed=3'");
}

TEST(Refusal, OfTapesThatAreNotThere) {
  expect_setting_refused("FERMATA_REPLAY=/nowhere/run.tape",
                         "cannot read the tape /nowhere/run.tape: No such file or directory");
}

TEST(Refusal, OfATapeCutInHalf) {
  const std::string folder = ::testing::TempDir() + "fermata_meta_cut";
  const Finished found = run_shell("FERMATA_OUT=" + folder + " " + lost_update());
  const std::string path = line_with(found.output, "tape: ");
  std::ifstream file(path);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  std::ofstream(path) << whole.substr(0, whole.size() / 2);
  expect_setting_refused("FERMATA_REPLAY=" + path, "the tape is cut off after line ");

  std::string changed = whole;
  changed.replace(changed.find("draws "), 6, "draws 9");
  std::ofstream(path) << changed;
  expect_setting_refused("FERMATA_REPLAY=" + path,
                         "the tape is damaged: its checksum does not match");
  std::filesystem::remove_all(folder);
}

TEST(Refusal, IsNotOfWhatCMakeReads) {
  const Finished finished = run_shell(
      "FERMATA_ROOT=/usr FERMATA_DIR=/usr FERMATA_LOOP=uv FERMATA_STRATEGY=calm " + lost_update());
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
}

}  // namespace
}  // namespace fermata::testing
