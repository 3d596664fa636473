// SPDX-License-Identifier: Apache-2.0

// `fermata run` of several programs: one verdict, one summary, a folder for each.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fermata/sim/base/program_path.hpp"
#include "tests/end_to_end/cli_specimens.hpp"

namespace fermata::testing {
namespace {

SIM_TEST(Calm, Passes) { fermata::suspend(); }
SIM_TEST(Calm, DISABLED_Skips) { GTEST_SKIP() << "no such device"; }

class Programs : public Cli {
 protected:
  /// `fermata run` of this program and of `others`.
  [[nodiscard]] std::string run_all(const std::string& others, const std::string& flags) const {
    return tool() + " run " + sim::detail::program_path() + ' ' + others + " --out " + folder_ +
           "/out " + flags;
  }
  [[nodiscard]] Finished run_to(int exit_code, const std::string& command) const {
    Finished finished = run_shell(command);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.output;
    return finished;
  }
  [[nodiscard]] bool is_there(const std::string& path) const {
    return std::filesystem::exists(folder_ + "/out/" + path);
  }
};

const std::string kCalm = "--filter 'Calm.*:Account.*' --runs 300 ";

TEST_F(Programs, HaveOneVerdictAndOneSummary) {
  const Finished found = run_to(2, run_all(lost_update(), kCalm));
  EXPECT_TRUE(says(found, "sim: program=" + sim::detail::program_path() + " seed=0x1 "));
  EXPECT_TRUE(says(found, "pass Calm.Passes: 300 runs, "));
  EXPECT_TRUE(says(found, "FAIL Account.DepositsAreNotLost: "));
  EXPECT_TRUE(says(found, " of 2 tests of 2 programs in "));
  EXPECT_EQ(lines_with(found.output, "statistics:").size(), 1u) << found.output;
  const Finished again =
      run_shell("FERMATA_OUT=" + folder_ + "/again " + line_with(found.output, "reproduce: "));
  EXPECT_EQ(again.exit_code, 2) << again.output;
}

TEST_F(Programs, HaveFoldersOfTheirOwn) {
  const std::string copy = folder_ + "/cli_programs_test";
  std::filesystem::copy_file(sim::detail::program_path(), copy);
  const Finished found = run_to(2, run_all(copy + ' ' + lost_update(), kCalm));
  EXPECT_TRUE(is_there("cli_programs_test/exploration/plan.json"));
  EXPECT_TRUE(is_there("cli_programs_test-2/exploration/plan.json"));
  EXPECT_TRUE(is_there("example_lost_update_sim_test/exploration/plan.json"));
  EXPECT_TRUE(is_there("example_lost_update_sim_test/Account.DepositsAreNotLost"));
  EXPECT_FALSE(is_there("exploration"));
}

TEST_F(Programs, ReportTheirTestsApart) {
  const Finished found =
      run_to(2, run_all(lost_update(),
                        kCalm + "--json " + folder_ + "/r.json --junit " + folder_ + "/r.xml"));
  const Finished xml = run_shell(
      "python3 -c 'import sys,xml.etree.ElementTree as e\nr=e.parse(sys.argv[1]).getroot()\n"
      "print(r.get(\"tests\"), r.get(\"failures\"))\n"
      "for s in r: print(s.get(\"name\"), [c.get(\"classname\") for c in s], "
      "float(s.get(\"time\")) >= float(s[0].get(\"time\")) > 0)' " +
      folder_ + "/r.xml");
  EXPECT_EQ(xml.output,
            "2 1\ncli_programs_test ['cli_programs_test.Calm'] True\n"
            "example_lost_update_sim_test ['example_lost_update_sim_test.Account'] True\n");
  const Finished json = run_shell(
      "python3 -c 'import json,sys\nfor line in open(sys.argv[1]): "
      "print(json.loads(line)[\"event\"])' " +
      folder_ + "/r.json");
  EXPECT_EQ(json.output, "start\ntest\nstart\nfailure\ntest\nend\n");
}

TEST_F(Programs, NeedNotAllHaveATestThatIsSelected) {
  const Finished found = run_to(0, run_all(lost_update(), "--filter 'Calm.*' --runs 20"));
  EXPECT_FALSE(says(found, "lost_update"));
  EXPECT_FALSE(is_there("example_lost_update_sim_test"));
  std::filesystem::remove_all(folder_ + "/out");
  expect_refused(run_all(lost_update(), "--filter 'Accoun.*'"),
                 "'Accoun.*' selects none of the 3 simulated tests of 2 programs; did you mean "
                 "Account.*?");
  EXPECT_FALSE(is_there("cli_programs_test")) << "before anything is explored";
}

TEST_F(Programs, ShareTheTime) {
  const std::string copy = folder_ + "/copy";
  std::filesystem::copy_file(sim::detail::program_path(), copy);
  const Finished found =
      run_to(0, run_all(copy, "--filter 'Calm.*' --time 1500ms --json " + folder_ + "/r.json"));
  EXPECT_EQ(lines_with(found.output, "pass Calm.Passes: ").size(), 2u) << found.output;
  const Finished elapsed = run_shell(
      "python3 -c 'import json,sys\n"
      "print(1000 < json.loads(open(sys.argv[1]).readlines()[-1])[\"elapsed_ms\"])' " +
      folder_ + "/r.json");
  EXPECT_EQ(elapsed.output, "True\n");
}

TEST_F(Programs, GoOnWhereTheyWereInterrupted) {
  const std::string command = run_all(lost_update(), kCalm + "--strategy calm");
  EXPECT_EQ(run_shell(command).exit_code, 0);
  // As an interruption between the two leaves it.
  const std::string plan = folder_ + "/out/example_lost_update_sim_test/exploration/plan.json";
  EXPECT_EQ(run_shell("sed -i 's/\"complete\": true/\"complete\": false/' " + plan).exit_code, 0);
  const Finished again = run_to(0, command + " --resume");
  EXPECT_EQ(lines_with(again.output, "resuming: 300 runs done").size(), 2u) << again.output;
  expect_refused(run_all(lost_update(), kCalm + "--seed 2 --resume"), "is another one");
}

TEST_F(Programs, AreRefusedTwiceAndWithWhatIsForOne) {
  std::filesystem::create_symlink(lost_update(), folder_ + "/link");
  expect_refused(run_all(lost_update() + ' ' + folder_ + "/link", kCalm),
                 " are the same program; expected each once");
  expect_refused(run_all(lost_update(), kCalm + "--check-determinism twin --twin /bin/true"),
                 "--twin: it names another build of one program; expected one program, got 2");
  expect_refused(run_all("/nowhere/test", kCalm), "there is no program /nowhere/test");
}

TEST_F(Programs, TellWhatIsLeftOfTheTime) {
  const std::string command = tool() + " run " + sim::detail::program_path() +
                              " --filter 'Calm.*' --time 1s --out " + folder_ + "/out";
  const Finished terminal = run_shell("script -qec \"" + command + "\" /dev/null");
  EXPECT_TRUE(says(terminal, "0 s, 1 s left: ")) << terminal.output;
  const Finished untimed =
      run_shell("script -qec \"" + tool() + " run " + sim::detail::program_path() +
                " --filter 'Calm.*' --runs 3000 --out " + folder_ + "/out\" /dev/null");
  EXPECT_FALSE(says(untimed, " left: ")) << untimed.output;
}

}  // namespace
}  // namespace fermata::testing
