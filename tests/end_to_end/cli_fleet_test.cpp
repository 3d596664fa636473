// SPDX-License-Identifier: Apache-2.0

// A plan that workers share: whoever does which chunk, and however often, the result is the same.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/end_to_end/cli_fleet.hpp"

namespace fermata::testing {
namespace {

SIM_TEST(Specimen, DISABLED_FleetPasses) {
  const auto other = fermata::spawn("other", [] {
    for (std::uint64_t i = fermata::random(5); i > 0; --i) fermata::suspend();
  });
  fermata::suspend();
  fermata::await(other);
}

SIM_TEST(Specimen, DISABLED_FleetFailsRarely) {
  EXPECT_NE(fermata::random(2'000), 1u) << "as planned";
}

SIM_TEST(Specimen, DISABLED_FleetCrashesRarely) {
  if (fermata::random(1'000) == 1) __builtin_trap();
}

TEST_F(Fleet, WorksUntilThePlanIsComplete) {
  make_plan("Passes", "--runs 1500");
  EXPECT_TRUE(says(status_of(), "0 of 6 chunks done"));
  const Finished work = run_shell(work_command());
  EXPECT_EQ(work.exit_code, 0) << work.output;
  EXPECT_TRUE(says(work, "6 chunks done; the plan is complete"));
  const Finished status = status_of();
  EXPECT_TRUE(says(status, "6 of 6 chunks done, 0 leased, 1500 runs"));
  EXPECT_TRUE(says(status, "canary: found"));
  const Finished result = result_of();
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(says(result, "pass Specimen.DISABLED_FleetPasses: 1500 runs"));
}

TEST_F(Fleet, GivesTheSameResultHoweverManyWork) {
  for (const char* plan : {"one", "three"}) make_plan("*Rarely", "--runs 4000 --seed 5", plan);
  const Finished alone = run_shell(work_command("--jobs 1", "one"));
  EXPECT_EQ(alone.exit_code, 0) << alone.output;
  const Finished together = run_shell(work_command("--jobs 3", "three"));
  EXPECT_EQ(together.exit_code, 0) << together.output;
  EXPECT_EQ(left_by("one"), left_by("three"));
  const Finished first = result_of("one");
  const Finished second = result_of("three");
  EXPECT_EQ(first.exit_code, 9) << first.output;
  EXPECT_EQ(second.exit_code, 9) << second.output;
  EXPECT_EQ(contents_of(path("one.json")), contents_of(path("three.json")));
  EXPECT_NE(contents_of(path("one.json")).find("as planned"), std::string::npos);
}

TEST_F(Fleet, AWorkerThatIsKilledLosesNothing) {
  for (const char* plan : {"calm", "killed"}) make_plan("*Rarely", "--runs 3000 --lease 1s", plan);
  EXPECT_EQ(run_shell(work_command("--jobs 1", "calm")).exit_code, 0);
  for (const int chunks_done : {1, 3, 6, 10, 15}) {
    const Finished killed =
        run_until(path("killed/results"), chunks_done, work_command("--jobs 1", "killed"));
    EXPECT_EQ(killed.exit_code, 137) << killed.output;
  }
  const Finished last = run_shell(work_command("--jobs 2", "killed"));
  EXPECT_EQ(last.exit_code, 0) << last.output;
  EXPECT_EQ(left_by("calm"), left_by("killed"));
}

TEST_F(Fleet, AWorkerThatIsToldToEndGivesItsChunkBack) {
  make_plan("*Rarely", "--runs 400000");
  for (const int jobs : {1, 2}) {
    const Finished told = run_until(path("plan/results"), 3 * jobs,
                                    work_command("--jobs " + std::to_string(jobs)), "TERM");
    EXPECT_EQ(told.exit_code, 130) << told.output;
    EXPECT_TRUE(says(told, "the plan goes on"));
  }
  EXPECT_TRUE(says(status_of(), " 0 leased"));
}

TEST_F(Fleet, AReproduceLineWorksInTheFolderOfThePlan) {
  make_plan("FailsRarely", "--runs 4000 --seed 5");
  EXPECT_EQ(run_shell(work_command("--jobs 2")).exit_code, 0);
  const Finished result = result_of();
  const std::size_t at = result.output.find("reproduce: ");
  ASSERT_NE(at, std::string::npos) << result.output;
  const std::string line = result.output.substr(at + 11, result.output.find('\n', at) - at - 11);
  const Finished again = run_shell("cd " + path("plan") + " && " + line);
  EXPECT_EQ(again.exit_code, 2) << line << '\n' << again.output;
  EXPECT_TRUE(says(again, "as planned"));
}

TEST_F(Fleet, OtherBytesOfAChunkAreAFinding) {
  make_plan("Passes", "--runs 500");
  EXPECT_EQ(run_shell(work_command()).exit_code, 0);
  std::string chunk;
  for (const auto& entry : files::recursive_directory_iterator(path("plan") + "/results")) {
    const std::string file = entry.path().string();
    const bool is_of_test =
        entry.is_regular_file() && contents_of(file).find("FleetPasses 0 ") != std::string::npos;
    if (is_of_test) chunk = file;
  }
  ASSERT_FALSE(chunk.empty());
  const std::string name = files::path(chunk).filename().string();
  std::ofstream(path("plan") + "/conflicts/" + name + ".0123456789abcdef") << "other bytes";
  const Finished result = result_of();
  EXPECT_EQ(result.exit_code, 5) << result.output;
  EXPECT_TRUE(says(result, "nondeterminism across machines"));
  EXPECT_TRUE(says(result, "conflicts/" + name + ".0123456789abcdef"));
}

TEST_F(Fleet, RefusesWhatIsNoPlan) {
  make_plan("Passes", "--runs 500");
  expect_refused(plan_command("Passes", "--runs 500"), "has this plan already");
  expect_refused(plan_command("Passes", "--runs 900"), "has another plan already");
  expect_refused(tool() + " fleet work " + path("nowhere"), "expected the folder of a `fermata fl");
  expect_refused(tool() + " fleet status " + folder_ + "/plan/results", "cannot be read");
  expect_refused(tool() + " fleet result " + path("plan"), "3 of 3 chunks have no result yet");
  expect_refused(plan_command("Passes", "--runs 500 --lease 5ms", "other"), "--lease: 5ms is too");
  expect_refused(tool() + " fleet plan " + sim::detail::program_path(), "--plan is missing");
  expect_refused(tool() + " fleet wrok x", "did you mean");
  expect_refused(plan_command("Passes", "--time 5s --strategy dfs", "other"), "expected --runs");
  std::ofstream(path("plan") + "/program", std::ios::app) << "another build";
  expect_refused(work_command(), "is another build than the plan's");
  files::create_directories(path("full"));
  std::ofstream(path("full") + "/letter") << "dear";
  expect_refused(plan_command("Passes", "--runs 500", "full"), "is not empty");
}

TEST_F(Fleet, ComparedWithAnOlderOneShowsWhatIsNew) {
  make_plan("Passes", "--runs 500", "old");
  make_plan("*", "--runs 4000 --seed 5", "new");
  EXPECT_EQ(run_shell(work_command("--jobs 2", "new")).exit_code, 0);
  const std::string compare = tool() + " fleet compare " + path("old") + " " + path("new");
  expect_refused(compare, "3 of 3 chunks have no result yet");
  EXPECT_EQ(run_shell(work_command("--jobs 2", "old")).exit_code, 0);
  const Finished worse = run_shell(compare);
  EXPECT_EQ(worse.exit_code, 9) << worse.output;
  EXPECT_TRUE(says(worse, "new    Specimen.DISABLED_FleetCrashesRarely: crash"));
  EXPECT_TRUE(says(worse, "2 failures new, 0 known, 0 gone"));
  const Finished same = run_shell(tool() + " fleet compare " + path("new") + " " + path("new"));
  EXPECT_EQ(same.exit_code, 0) << same.output;
  EXPECT_TRUE(says(same, "0 failures new, 2 known, 0 gone"));
  const Finished better = run_shell(tool() + " fleet compare " + path("new") + " " + path("old"));
  EXPECT_EQ(better.exit_code, 0) << better.output;
  EXPECT_TRUE(says(better, "0 failures new, 0 known, 2 gone"));
  expect_refused(tool() + " fleet compare " + path("new"), "expected two plans");
}

TEST_F(Fleet, EndsWhenTheTimeOfItsWorkersIsOver) {
  make_plan("*Rarely", "--time 2s --seed 42");  // Both fail in their first chunk.
  expect_refused(tool() + " fleet result " + path("plan"), "the workers' time is not over yet");
  EXPECT_TRUE(says(status_of(), "0 chunks done, more until the time is over"));
  const Finished work = run_shell(work_command("--jobs 2"));
  EXPECT_EQ(work.exit_code, 0) << work.output;
  EXPECT_TRUE(says(work, "the plan is complete"));
  const std::string end = contents_of(path("plan") + "/end");
  EXPECT_GE(std::stoi(end), 3) << "the canary, and a chunk of each test";
  EXPECT_FALSE(says(status_of(), "more until the time is over"));

  // From here on the plan is that many chunks, and a new worker has nothing to do.
  const std::string left = left_by("plan");
  EXPECT_TRUE(says(run_shell(work_command()), "0 chunks done; the plan is complete"));
  EXPECT_EQ(left_by("plan"), left);
  const Finished result = result_of();
  EXPECT_EQ(result.exit_code, 9) << result.output;
  EXPECT_TRUE(says(result, "shrunk tape: "));
}

TEST_F(Fleet, IsRedWithoutItsCanary) {
  make_plan("Passes", "--runs 250");
  EXPECT_EQ(run_shell(work_command()).exit_code, 0);
  // As of a worker that explores the canary and finds nothing: the result of another test.
  std::string canary;
  std::string other;
  for (const auto& entry : files::recursive_directory_iterator(path("plan") + "/results")) {
    if (!entry.is_regular_file()) continue;
    const std::string file = entry.path().string();
    (contents_of(file).find("FermataCanary") != std::string::npos ? canary : other) = file;
  }
  files::copy_file(other, canary, files::copy_options::overwrite_existing);
  const Finished result = result_of();
  EXPECT_EQ(result.exit_code, 7) << result.output;
  EXPECT_TRUE(says(result, "RED: the canary was not found"));
  EXPECT_TRUE(says(status_of(), "canary: MISSED"));
}

TEST_F(Fleet, ShowsWhatTheGuideShows) {
  make_plan("Passes", "--runs 500", "before");
  EXPECT_EQ(run_shell(work_command("--jobs 2", "before")).exit_code, 0);
  const Finished guide = run_shell(
      "PATH=" FERMATA_BINARY_DIR ":$PATH TESTS=" + sim::detail::program_path() +
      " PLAN=" + path("plan") + " BEFORE=" + path("before") +
      " FILTER='Specimen.DISABLED_Fleet*' FERMATA_DISABLED=on RUNS=4000 " FERMATA_SOURCE_DIR
      "/docs/guide/ci/fleet.sh");
  EXPECT_EQ(guide.exit_code, 9) << guide.output;
  EXPECT_TRUE(says(guide, "2 failures new, 0 known, 0 gone"));
  EXPECT_TRUE(says(guide, "as planned"));
}

TEST_F(Fleet, ADamagedResultIsNamed) {
  make_plan("Passes", "--runs 500");
  EXPECT_EQ(run_shell(work_command()).exit_code, 0);
  for (const auto& entry : files::recursive_directory_iterator(path("plan") + "/results")) {
    if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::app) << "x";
  }
  expect_refused(tool() + " fleet result " + path("plan"), "the result of a chunk is damaged");
}

}  // namespace
}  // namespace fermata::testing
