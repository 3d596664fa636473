// SPDX-License-Identifier: Apache-2.0

// The examples that take a driver's name, as processes, on each driver of this build.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "fermata/drivers/factory.hpp"
#include "tests/meta/process.hpp"

namespace fermata::testing {
namespace {

constexpr const char* kText = "one line\n";

std::string program(const std::string& name) {
  return FERMATA_BINARY_DIR "/examples/" + name + "/example_" + name;
}

/// The program, which ends by itself, with a limit for one that hangs.
Finished run_example(const std::string& name, const std::string& arguments) {
  return run_shell("timeout 60 " + program(name) + " " + arguments);
}

std::string text_file() {
  const std::string path = ::testing::TempDir() + "fermata_examples_drivers_" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ofstream(path) << kText;
  return path;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

void expect_no_files(const Finished& finished) {
  EXPECT_EQ(finished.exit_code, 1) << finished.output;
  EXPECT_NE(finished.output.find("has no part 'files'"), std::string::npos) << finished.output;
}

TEST(ExamplesOnDrivers, ChatShowsEveryLineToEveryGuest) {
  for (const loop::Driver& driver : loop::drivers()) {
    SCOPED_TRACE(driver.name);
    const Finished finished = run_example("chat", "--loop " + std::string(driver.name));
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(lines_with(finished.output, "ann is shown: ").size(), 4u) << finished.output;
    EXPECT_EQ(lines_with(finished.output, "bob is shown: ").size(), 4u) << finished.output;
  }
}

TEST(ExamplesOnDrivers, OperationTimeoutGetsOneAnswerAndGivesUpOnce) {
  for (const loop::Driver& driver : loop::drivers()) {
    SCOPED_TRACE(driver.name);
    const Finished finished =
        run_example("operation_timeout", "--loop " + std::string(driver.name));
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.output, "pong\nno answer\n");
  }
}

TEST(ExamplesOnDrivers, FilePiecesCountsOrSaysThatTheDriverHasNoFiles) {
  const std::string path = text_file();
  for (const loop::Driver& driver : loop::drivers()) {
    SCOPED_TRACE(driver.name);
    const Finished finished =
        run_example("file_pieces", "--loop " + std::string(driver.name) + " " + path);
    if (!driver.capabilities.every_part) {
      expect_no_files(finished);
      continue;
    }
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.output, path + ": 9 bytes\n");
  }
}

TEST(ExamplesOnDrivers, ReloadShowsTheFileAgainOrSaysThatTheDriverHasNoFiles) {
  const std::string path = text_file();
  for (const loop::Driver& driver : loop::drivers()) {
    SCOPED_TRACE(driver.name);
    const std::string arguments = "--loop " + std::string(driver.name) + " " + path;
    if (!driver.capabilities.every_part) {
      expect_no_files(run_example("reload", arguments));
      continue;
    }
    // A signal that comes before the program waits for it, or after, is ignored.
    const Finished finished = run_shell("trap '' USR1; " + program("reload") + " " + arguments +
                                        " & while kill -USR1 $! 2>/dev/null; do sleep 0.01; done;"
                                        " wait $!");
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    EXPECT_TRUE(finished.output.starts_with(repeated(kText, 4))) << finished.output;
  }
}

TEST(ExamplesOnDrivers, AnUnknownDriverIsNamedWithTheChoices) {
  const std::string path = text_file();
  for (const std::string name : {"chat", "file_pieces", "operation_timeout", "reload"}) {
    const bool reads = name == "file_pieces" || name == "reload";
    const Finished finished = run_example(name, "--loop kqueue" + (reads ? " " + path : ""));
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    const std::string expected =
        "example_" + name + ": 'kqueue' is not a driver of this build; expected one of ";
    EXPECT_TRUE(finished.output.starts_with(expected)) << finished.output;
  }
}

TEST(ExamplesOnDrivers, AFlagWithoutANameIsAnotherWayToCallThem) {
  for (const std::string name : {"chat", "file_pieces", "operation_timeout", "reload"}) {
    const Finished finished = run_example(name, "--loop");
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    EXPECT_TRUE(finished.output.starts_with("usage: example_" + name + " [--loop NAME]"))
        << finished.output;
  }
}

}  // namespace
}  // namespace fermata::testing
