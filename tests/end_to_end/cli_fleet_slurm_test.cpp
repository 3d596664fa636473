// SPDX-License-Identifier: Apache-2.0

// The batch script of `fermata fleet slurm`, with scripts in place of Slurm's programs. A real
// Slurm runs it in tests/fleet.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fermata/sim/run/reproduce.hpp"
#include "tests/end_to_end/cli_specimens.hpp"

namespace fermata::testing {
namespace {

/// A plan of the example that loses an update.
class FleetSlurm : public Cli {
 protected:
  FleetSlurm() { make_plan(plan_); }

  void make_plan(const std::string& plan) const {
    const Finished made =
        run_shell(tool() + " fleet plan " + lost_update() + " --runs 10 --plan '" + plan + "'");
    EXPECT_EQ(made.exit_code, 0) << made.output;
  }
  [[nodiscard]] std::string slurm(const std::string& flags = "") const {
    return tool() + " fleet slurm '" + plan_ + "' " + flags;
  }
  [[nodiscard]] std::string printed(const std::string& flags) const {
    const Finished finished = run_shell(slurm("--print " + flags));
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    return finished.output;
  }
  /// A folder of programs, of which one is an sbatch.
  [[nodiscard]] std::string with_sbatch(const std::string& body) const {
    std::filesystem::create_directories(folder_ + "/bin");
    std::filesystem::rename(script(body), folder_ + "/bin/sbatch");
    return "PATH=" + folder_ + "/bin:/bin ";
  }

  std::string plan_ = folder_ + "/plan";
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(FleetSlurm, PrintsAScriptAndDoesNothingElse) {
  const std::string script = printed("--tasks 7 --jobs 3 --time 90min --partition long,short");
  EXPECT_TRUE(script.starts_with("#!/usr/bin/env bash\n#SBATCH ")) << script;
  for (const std::string& line :
       {std::string("#SBATCH --array=0-6\n"), std::string("#SBATCH --cpus-per-task=3\n"),
        std::string("#SBATCH --time=01:30:00\n"), std::string("#SBATCH --signal=B:TERM@60\n"),
        std::string("#SBATCH --requeue\n"), std::string("#SBATCH --open-mode=append\n"),
        std::string("#SBATCH --partition=long,short\n"),
        "#SBATCH --output=\"" + plan_ + "/logs/%A_%a.log\"\n",
        "\n" + tool() + " fleet work " + plan_ + " --jobs 3 &\n"}) {
    EXPECT_TRUE(contains(script, line)) << line << "is missing in\n" << script;
  }
  EXPECT_FALSE(std::filesystem::exists(plan_ + "/slurm.sh"));
  EXPECT_FALSE(contains(printed(""), "--partition"));
}

TEST_F(FleetSlurm, RoundsTheTimeUpToMinutes) {
  EXPECT_TRUE(contains(printed("--time 61s"), "#SBATCH --time=00:02:00\n"));
  EXPECT_TRUE(contains(printed("--time 100h"), "#SBATCH --time=100:00:00\n"));
  EXPECT_TRUE(contains(printed(""), "#SBATCH --time=01:00:00\n"));
}

TEST_F(FleetSlurm, WritesWhatAShellReadsWherePathsHaveBlanks) {
  const std::string plan = folder_ + "/a plan; with $signs & more";
  make_plan(plan);
  const Finished written =
      run_shell("PATH=/nowhere " + tool() + " fleet slurm '" + plan + "' --tasks 2");
  EXPECT_EQ(written.exit_code, 0) << written.output;
  EXPECT_TRUE(contains(written.output, "2 tasks of 1 worker")) << written.output;
  EXPECT_TRUE(contains(written.output, "there is no sbatch in PATH")) << written.output;
  EXPECT_TRUE(contains(written.output, "\n  sbatch '" + plan + "/slurm.sh'\n")) << written.output;
  EXPECT_TRUE(std::filesystem::is_directory(plan + "/logs"));
  const Finished ran = run_shell("bash -n '" + plan + "/slurm.sh' && bash '" + plan + "/slurm.sh'");
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_TRUE(contains(ran.output, "the plan is complete")) << ran.output;
}

TEST_F(FleetSlurm, ATaskWhoseTimeIsOverHasNotFailed) {
  const std::string worker =
      script("trap 'echo told; exit 130' TERM; while :; do sleep 0.05; done");
  std::string text = printed("");
  text.replace(text.find(tool()), tool().size(), worker);
  std::ofstream(folder_ + "/task") << text;
  const std::string task = "timeout --foreground --preserve-status -s TERM 0.5 bash " + folder_;
  const Finished told = run_shell(task + "/task");
  EXPECT_EQ(told.exit_code, 0) << told.output;
  EXPECT_TRUE(contains(told.output, "told")) << told.output;
  static_cast<void>(script("exit 1"));
  EXPECT_EQ(run_shell(task + "/task").exit_code, 1);
}

TEST_F(FleetSlurm, SubmitsTheScript) {
  const std::string path = with_sbatch("echo \"$@\" >$(dirname $0)/told; echo '17;cluster'");
  const Finished submitted = run_shell(path + slurm("--tasks 3"));
  EXPECT_EQ(submitted.exit_code, 0) << submitted.output;
  EXPECT_TRUE(submitted.output.starts_with("job: 17;cluster\n3 tasks of 1 worker"))
      << submitted.output;
  EXPECT_EQ(contents_of(folder_ + "/bin/told"), "--parsable " + plan_ + "/slurm.sh\n");
}

TEST_F(FleetSlurm, TellsWhatSbatchSaysWhenItRefuses) {
  const std::string path = with_sbatch("echo 'sbatch: error: invalid partition' >&2; exit 1");
  const Finished refused = run_shell(path + slurm());
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.output,
                       "sbatch exited with code 1: sbatch: error: invalid "
                       "partition; the script is " +
                           plan_ + "/slurm.sh"))
      << refused.output;
}

TEST_F(FleetSlurm, RefusesWhatSlurmCannotDo) {
  expect_refused(slurm("--tasks 0"), "--tasks: '0' is not a valid number of tasks; expected 1 to");
  expect_refused(slurm("--tasks 100001"), "--tasks: '100001' is not a valid number of tasks");
  expect_refused(slurm("--tasks many"), "--tasks: 'many' is not a valid number of tasks");
  expect_refused("FERMATA_TASKS=-1 " + slurm(), "FERMATA_TASKS: '-1' is not a valid number");
  expect_refused(slurm("--time 1min"), "--time: 1 min is too short: expected at least 2 min");
  expect_refused(slurm("--time soon"), "--time: 'soon' is not a valid duration");
  expect_refused(slurm("--jobs 0"), "--jobs: '0' is not a valid number");
  expect_refused(slurm("--partition 'a b'"),
                 "--partition: 'a b' is not a valid name of a partition; expected letters");
  expect_refused(tool() + " fleet slurm " + folder_ + "/nowhere", folder_ + "/nowhere");
}

TEST_F(FleetSlurm, RefusesAPathThatSlurmReadsOtherwise) {
  const std::string plan = folder_ + "/50% of it";
  make_plan(plan);
  expect_refused(tool() + " fleet slurm '" + plan + "'",
                 "fleet slurm: the path of the plan, '" + plan +
                     "', cannot be in a script of Slurm: expected an absolute one without quotes");
}

}  // namespace
}  // namespace fermata::testing
