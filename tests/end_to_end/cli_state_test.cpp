// SPDX-License-Identifier: Apache-2.0

// `fermata explain --network --disk --at`: what is on the wire and on the disks of a run on a tape.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <gtest/gtest.h>

#include <string>

#include "tests/end_to_end/cli_specimens.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::testing {
namespace {

SIM_TEST(Specimen, DISABLED_Desk) {
  fermata::test::greet(world);
  fermata::File file = fermata::File::open("/settings", fermata::OpenMode::writing());
  file.write("v1");
  file.sync();
  fermata::fs::sync_directory("/");
  FERMATA_LOG("the settings are durable, version ", 1);
  file.write(", v2");
  throw fermata::Error("as planned");
}

class State : public Cli {
 protected:
  State() {
    const Finished found = run_to(2, "Desk", "--faults none --runs 1");
    tape_ = line_with(found.output, "tape: ");
    report_ = found.output;
  }
  [[nodiscard]] Finished tool_on_tape(const std::string& verb, const std::string& flags) const {
    return run_shell(tool() + ' ' + verb + ' ' + tape_ + ' ' + flags);
  }

  std::string tape_;
  std::string report_;
};

TEST_F(State, FilesAreShownAsSeenAndAsDurable) {
  const Finished shown = tool_on_tape("explain", "--disk");
  EXPECT_EQ(shown.exit_code, 2) << shown.output;
  EXPECT_NE(shown.output.find("files of 'main' at the end of the run, +"), std::string::npos)
      << shown.output;
  EXPECT_NE(shown.output.find("  settings  seen \"v1, v2\" (6 bytes)  durable \"v1\" (2 bytes)  <- "
                              "not durable\n"),
            std::string::npos)
      << shown.output;
  EXPECT_EQ(shown.output.find("connections"), std::string::npos);
}

TEST_F(State, ConnectionsAreShownWithTheirBytes) {
  const Finished shown = tool_on_tape("replay", "--network");
  EXPECT_EQ(shown.exit_code, 2) << shown.output;
  EXPECT_NE(shown.output.find("connections at the end of the run, +"), std::string::npos);
  EXPECT_NE(shown.output.find(" -> server:80  sent 5 bytes, arrived 5, lost 0, in flight 0"),
            std::string::npos)
      << shown.output;
}

TEST_F(State, IsThatOfAnyStepOrTime) {
  EXPECT_NE(tool_on_tape("replay", "--disk --at 1")
                .output.find("files after step 1, +0 ms: "
                             "none\n"),
            std::string::npos);
  EXPECT_NE(tool_on_tape("replay", "--network --at 1us")
                .output.find("connections at +0.001 ms: none\n"),
            std::string::npos);
}

TEST_F(State, ThatIsNotIsRefused) {
  expect_refused(tool() + " replay " + tape_ + " --disk --at 9999", "there is no step 9999");
  expect_refused(tool() + " replay " + tape_ + " --disk --at soon", "'soon' is not a valid moment");
  expect_refused(tool() + " replay " + tape_ + " --at 1", "FERMATA_AT");
}

TEST_F(State, OfExploringIsNone) {
  const Finished refused =
      run_shell("FERMATA_DISK=on " + sim::detail::program_path() +
                " --gtest_also_run_disabled_tests --gtest_filter=Specimen.DISABLED_Desk");
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.output.find("FERMATA_DISK: expected FERMATA_REPLAY as well"), std::string::npos)
      << refused.output;
}

TEST_F(State, LinesOfTheProgramAreAmongTheSteps) {
  EXPECT_NE(report_.find("| the settings are durable, version 1\n"), std::string::npos) << report_;
  EXPECT_NE(report_.find(" main] the settings are durable, version 1\n"), std::string::npos)
      << report_;
}

}  // namespace
}  // namespace fermata::testing
