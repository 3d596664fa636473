// SPDX-License-Identifier: Apache-2.0

// Workers on machines that differ, that die, and that are told to end: the bytes of a chunk are
// the same, and nothing is left behind.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>

#include "tests/end_to_end/cli_fleet.hpp"

// Outside of namespace fermata, as the code of users is, so that stacks have these names.
namespace fleet_specimens {

[[gnu::noinline]] void throw_far_away() { throw std::runtime_error("far away"); }

/// Dies when the program ends, once it was told to.
struct DiesAtTheEnd {
  ~DiesAtTheEnd() {
    if (is_told) __builtin_trap();
  }
  bool is_told = false;
};
DiesAtTheEnd the_end;

const pid_t the_process = ::getpid();

bool is_first(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

/// With TEST_DEATHS=n, a process that explores a chunk kills its worker, the first n times; in
/// TEST_FOLDER is counted. With TEST_SPARES=first it does so from the worker's second chunk on.
struct KillsItsWorker {
  KillsItsWorker() {
    const char* deaths = std::getenv("TEST_DEATHS");
    if (deaths == nullptr || std::getenv("FERMATA_INTERNAL_BOARD") == nullptr) return;
    const std::string folder = std::string(std::getenv("TEST_FOLDER")) + '/';
    const pid_t worker = ::getppid();
    const bool is_spared = is_first(folder + "of" + std::to_string(worker));
    if (is_spared && std::getenv("TEST_SPARES") != nullptr) return;
    for (int i = 0; i < std::atoi(deaths); ++i) {
      if (!is_first(folder + std::to_string(i))) continue;
      ::kill(worker, SIGKILL);
      return;
    }
  }
};
const KillsItsWorker kills_its_worker;

}  // namespace fleet_specimens

namespace fermata::testing {
namespace {

SIM_TEST(Specimen, DISABLED_FleetPasses) { static_cast<void>(fermata::random(5)); }

SIM_TEST(Specimen, DISABLED_FleetThrows) {
  if (fermata::random(100) == 1) fleet_specimens::throw_far_away();
}

SIM_TEST(Specimen, DISABLED_FleetDiesAtTheEnd) { fleet_specimens::the_end.is_told = true; }

SIM_TEST(Specimen, DISABLED_FleetSaysWhoDies) {
  if (fermata::random(200) != 1) return;
  std::fprintf(stderr, "process %d dies\n", fleet_specimens::the_process);
  __builtin_trap();
}

SIM_TEST(Specimen, DISABLED_FleetHangs) {
  const auto other = fermata::spawn("other", [] { fermata::suspend(); });
  bool hangs = true;
  for (int i = 0; i < 6; ++i) hangs = fermata::random(2) == 1 && hangs;
  fermata::await(other);
  while (hangs) {
  }
}

TEST_F(Fleet, AWorkerThatCannotLookNamesUpRefuses) {
  make_plan("Throws", "--runs 500");
  const std::string none = "PATH=" + folder_ + " ";
  expect_refused(none + work_command(), "addr2line");
  expect_refused(none + work_command(), "binutils");
  expect_refused(none + plan_command("Throws", "--runs 500", "other"), "--names off");
  EXPECT_TRUE(says(status_of(), "0 of 3 chunks done"));
  EXPECT_EQ(run_shell(work_command()).exit_code, 0);
  EXPECT_NE(left_by("plan").find("throw_far_away"), std::string::npos);
}

TEST_F(Fleet, APlanWithoutNamesIsTheSameEverywhere) {
  const std::string none = "PATH=" + folder_ + " ";
  for (const char* plan : {"with", "without"}) make_plan("Throws", "--runs 500 --names off", plan);
  const Finished with = run_shell(work_command("--jobs 1", "with"));
  EXPECT_EQ(with.exit_code, 0) << with.output;
  const Finished without = run_shell(none + work_command("--jobs 1", "without"));
  EXPECT_EQ(without.exit_code, 0) << without.output;
  EXPECT_NE(left_by("with").find("far away"), std::string::npos);
  EXPECT_EQ(left_by("with").find("throw_far_away"), std::string::npos);
  EXPECT_EQ(left_by("with"), left_by("without"));
}

TEST_F(Fleet, ACrashAfterTheLastRunIsFound) {
  for (const char* plan : {"one", "two"}) {
    make_plan("DiesAtTheEnd", "--runs 250", plan);
    EXPECT_EQ(run_shell(work_command("--jobs 1", plan)).exit_code, 0);
  }
  const Finished result = result_of("one");
  EXPECT_EQ(result.exit_code, 9) << result.output;
  EXPECT_TRUE(says(result, "after its last run"));
  EXPECT_EQ(left_by("one", "results"), left_by("two", "results"));
}

TEST_F(Fleet, ACrashAfterTheLastRunIsInAMerge) {
  static_cast<void>(run_to(9, "FleetDiesAtTheEnd", "--runs 250"));
  const Finished merged = run_shell(tool() + " merge " + path("out"));
  EXPECT_EQ(merged.exit_code, 9) << merged.output;
  EXPECT_TRUE(says(merged, "after its last run"));
}

TEST_F(Fleet, WhatADyingProcessPrintsIsBesideTheResult) {
  for (const char* plan : {"one", "two"}) {
    make_plan("SaysWhoDies", "--runs 500", plan);
    EXPECT_EQ(run_shell(work_command("--jobs 1", plan)).exit_code, 0);
  }
  EXPECT_EQ(left_by("one", "results"), left_by("two", "results"));
  const Finished result = result_of("one");
  EXPECT_EQ(result.exit_code, 9) << result.output;
  const std::size_t at = result.output.find("output: findings/");
  ASSERT_NE(at, std::string::npos) << result.output;
  const std::string file = result.output.substr(at + 8, result.output.find('\n', at) - at - 8);
  EXPECT_NE(contents_of(path("one/" + file)).find(" dies\n"), std::string::npos) << file;
}

TEST_F(Fleet, RealTimeDoesNotLimitTheSearchForASmallerHang) {
  make_plan("Hangs", "--runs 100 --seed 1 --wall-limit 1500ms");
  EXPECT_EQ(run_shell(work_command("--jobs 1")).exit_code, 0);
  const Finished result = result_of();
  EXPECT_EQ(result.exit_code, 124) << result.output;
  EXPECT_TRUE(says(result, " decisions -> 6 ("));
  EXPECT_EQ(result.output.find("there was more to try"), std::string::npos) << result.output;
}

TEST_F(Fleet, AWorkerRemovesWhatKilledOnesHaveLeft) {
  make_plan("Passes", "--runs 400000 --lease 1s");
  const std::string places = "env TMPDIR=" + path("tmp") + " ";
  files::create_directories(path("tmp"));
  const Finished killed = run_until(path("plan/results"), 1, places + work_command());
  EXPECT_EQ(killed.exit_code, 137) << killed.output;
  files::create_directories(path("tmp/fermata-work-dead/fermata-out"));
  std::ofstream(path("tmp/fermata-work-dead/lock")) << "";
  const std::string alive = path("tmp/fermata-work-alive");
  files::create_directories(alive);
  const int lock = ::open((alive + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  files::create_directories(path("tmp/fermata-work-of-somebody"));
  EXPECT_EQ(run_shell(places + work_command("--jobs 1 --time 1ms")).exit_code, 0);
  std::set<std::string> left;
  for (const auto& entry : files::directory_iterator(path("tmp"))) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("fermata-work-")) left.insert(name);
  }
  EXPECT_EQ(left, (std::set<std::string>{"fermata-work-alive", "fermata-work-of-somebody"}));
  ::close(lock);
}

TEST_F(Fleet, AnotherWorkerTakesThePlaceOfOneThatDied) {
  make_plan("Passes", "--runs 500 --lease 300ms");
  const std::string deadly = "TEST_DEATHS=2 TEST_FOLDER=" + folder_ + " ";
  const Finished work = run_shell(deadly + work_command("--jobs 2"));
  EXPECT_EQ(work.exit_code, 0) << work.output;
  EXPECT_TRUE(says(work, "was killed by signal 9 (Killed); another one takes its place"));
  EXPECT_TRUE(says(work, "the plan is complete"));
}

TEST_F(Fleet, WorkersMayDieForAsLongAsChunksAreDone) {
  make_plan("Passes", "--runs 3000 --lease 300ms");
  const std::string deadly = "TEST_DEATHS=100 TEST_SPARES=first TEST_FOLDER=" + folder_ + " ";
  const Finished work = run_shell(deadly + work_command("--jobs 2"));
  EXPECT_EQ(work.exit_code, 0) << work.output;
  EXPECT_TRUE(files::exists(path("3"))) << "fewer than four have died";
  EXPECT_TRUE(says(work, "the plan is complete"));
}

TEST_F(Fleet, WorkersThatDieInVainAreAnError) {
  make_plan("Passes", "--runs 500 --lease 300ms");
  const std::string deadly = "TEST_DEATHS=100 TEST_FOLDER=" + folder_ + " ";
  expect_refused(deadly + work_command("--jobs 2"),
                 "3 workers have died one after the other, and none has done a chunk: the last one "
                 "was killed by signal 9 (Killed)");
  EXPECT_TRUE(says(status_of(), "0 of 3 chunks done"));
  EXPECT_EQ(run_shell(work_command("--jobs 2")).exit_code, 0);
}

}  // namespace
}  // namespace fermata::testing
