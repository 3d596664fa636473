// SPDX-License-Identifier: Apache-2.0

// `fermata report`, and the reports beside tapes. The specimens are disabled, since one fails; the
// tool runs this very program with one of them.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "fermata/sim/tape/tape.hpp"
#include "tests/end_to_end/cli_specimens.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::testing {
namespace {

using Json = nlohmann::json;

SIM_TEST(Specimen, DISABLED_Greets) {
  fermata::test::greet(world);
  auto other = fermata::spawn("other", [] {});
  fermata::suspend();
  if (!other->is_closed()) throw fermata::Error("as planned");
}
SIM_TEST(Specimen, DISABLED_Passes) { fermata::test::greet(world); }

class Reports : public Cli {
 protected:
  /// The tape of the specimen that fails.
  std::string failing_tape() {
    const Finished found = run_to(2, "Greets", "--strategy random --faults none");
    report_beside_ = line_with(found.output, "report: ");
    return line_with(found.output, "shrunk tape: ");
  }

  /// One of the specimen that passes, made from the other one.
  std::string passing_tape() {
    sim::Tape tape = sim::load_tape(failing_tape());
    tape.test = "Specimen.DISABLED_Passes";
    tape.signature = "pass";
    tape.decisions.clear();
    const std::string path = folder_ + "/passing.tape";
    sim::save_tape(tape, path);
    return path;
  }

  [[nodiscard]] Finished report(const std::string& arguments) const {
    return run_shell(tool() + " report " + arguments);
  }

  std::string report_beside_;
};

TEST_F(Reports, ExploringWritesOneBesideTheTape) {
  const std::string tape = failing_tape();
  ASSERT_TRUE(report_beside_.ends_with(".html")) << report_beside_;
  EXPECT_EQ(std::filesystem::path(report_beside_).parent_path(),
            std::filesystem::path(tape).parent_path());
  const std::string page = contents_of(report_beside_);
  EXPECT_NE(page.find("as planned"), std::string::npos);
  EXPECT_NE(page.find("nearest passing run"), std::string::npos);
}

TEST_F(Reports, CanBeLeftOutAndHaveAnotherForm) {
  const Finished without = run("Greets", "--strategy random --faults none --report off");
  EXPECT_FALSE(says(without, "\nreport: "));
  const Finished trace =
      run("Greets", "--strategy random --faults none --report-format chrome", "trace");
  EXPECT_TRUE(line_with(trace.output, "report: ").ends_with(".trace.json")) << trace.output;
}

TEST_F(Reports, ShowATapeInEachForm) {
  const std::string tape = failing_tape();
  for (const char* name : {"run.html", "run.json", "run.trace.json", "run.pcap"}) {
    const std::string file = folder_ + "/below/" + name;
    const Finished finished = report(tape + " -o " + file);
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    EXPECT_TRUE(says(finished, "report: " + file));
    EXPECT_GT(contents_of(file).size(), 100u) << file;
  }
  const Json data = Json::parse(contents_of(folder_ + "/below/run.json"));
  EXPECT_EQ(data["failure"]["message"].get<std::string>().find("as planned") == std::string::npos,
            false);
  EXPECT_EQ(data["runs"].size(), 2u);
  EXPECT_FALSE(data["runs"][0]["messages"].empty());
}

TEST_F(Reports, AreTheSameEachTime) {
  const std::string tape = failing_tape();
  for (const char* name : {"one.json", "two.json"}) {
    static_cast<void>(report(tape + " -o " + folder_ + "/" + name));
  }
  EXPECT_EQ(contents_of(folder_ + "/one.json"), contents_of(folder_ + "/two.json"));
}

TEST_F(Reports, ShowARunThatPasses) {
  const std::string tape = passing_tape();
  const std::string file = folder_ + "/run";
  const Finished finished = report(tape + " --replay-mode best --format json -o " + file);
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  const Json data = Json::parse(contents_of(file));
  EXPECT_FALSE(data.contains("failure"));
  EXPECT_EQ(data["runs"][0]["title"], "run");
}

TEST_F(Reports, RefuseWhatMakesNoSense) {
  const std::string tape = failing_tape();
  expect_refused(tool() + " report " + tape, "-o is missing: the file for the report");
  expect_refused(tool() + " report " + tape + " -o run.txt", "does not say in which format");
  expect_refused(tool() + " report " + tape + " -o run.html --format svg",
                 "'svg' is unknown; expected html, chrome, pcap or json");
  expect_refused(tool() + " report " + folder_ + "/none.tape -o run.html", "none.tape");
  expect_refused(tool() + " report " + tape + " -o /proc/none/run.html",
                 "cannot write the report /proc/none/run.html");
  expect_refused(tool() + " report " + tape + " --program /bin/true -o run.html", "/bin/true");
  EXPECT_FALSE(std::filesystem::exists("run.html"));
}

TEST_F(Reports, ExploringDoesNotWriteToAFile) {
  const Finished finished = run_to(1, "Passes", "--report " + folder_ + "/run.html");
  EXPECT_TRUE(says(finished, "expected FERMATA_REPLAY as well"));
}

}  // namespace
}  // namespace fermata::testing
