// SPDX-License-Identifier: Apache-2.0

// A plan whose tests are fuzzed: what a worker finds, others begin with; the result is the same
// whoever works.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/end_to_end/cli_specimens.hpp"

namespace fermata::testing {
namespace {

namespace files = std::filesystem;

class FuzzPlan : public Cli {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::string plan_command(const std::string& plan, const std::string& tests,
                                         const std::string& flags) const {
    return tool() + " fleet fuzz " FERMATA_BINARY_DIR "/tests/fleet/fleet_fuzz_specimen --plan " +
           path(plan) + " --filter '" + tests + "' --seed 7 " + flags;
  }
  void make_plan(const std::string& plan, const std::string& tests,
                 const std::string& flags) const {
    const Finished finished = run_shell(plan_command(plan, tests, flags));
    ASSERT_EQ(finished.exit_code, 0) << finished.output;
  }
  void work(const std::string& plan, const std::string& flags = "--jobs 2") const {
    const Finished finished = run_shell(tool() + " fleet work " + path(plan) + " " + flags);
    ASSERT_EQ(finished.exit_code, 0) << finished.output;
  }
  [[nodiscard]] Finished result_of(const std::string& plan, const std::string& flags = "") const {
    return run_shell(tool() + " fleet result " + path(plan) + " " + flags);
  }
  /// The names and contents of all files below `folder`.
  [[nodiscard]] std::vector<std::string> files_in(const std::string& folder) const {
    std::vector<std::string> all;
    for (const auto& entry : files::recursive_directory_iterator(path(folder))) {
      if (!entry.is_regular_file()) continue;
      const std::string file = entry.path().string();
      all.push_back(file.substr(path(folder).size() + 1) + '\n' + contents_of(file));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  /// The contents of all files below `folder`, each once.
  [[nodiscard]] std::set<std::string> contents_in(const std::string& folder) const {
    std::set<std::string> all;
    for (const std::string& file : files_in(folder)) all.insert(file.substr(file.find('\n') + 1));
    return all;
  }
};

constexpr const char* kLock = "Canary.TheLockStaysShut";

// What libFuzzer tries next depends on where the linker has put the program. In 750 runs half of
// the seeds find the crash, in 3,000 each of 32.
TEST_F(FuzzPlan, HasTheSameResultHoweverManyWork) {
  for (const char* plan : {"one", "two"}) make_plan(plan, "Fuzzed.*", "--runs 3000");
  work("one", "--jobs 1");
  work("two", "--jobs 2");
  for (const char* part : {"/results", "/findings", "/inputs", "/conflicts"}) {
    EXPECT_EQ(files_in(std::string("one") + part), files_in(std::string("two") + part)) << part;
  }
  const Finished result = result_of("one");
  EXPECT_EQ(result.exit_code, 9) << result.output;
  EXPECT_TRUE(says(result, "pass Fuzzed.Passes: "));
  EXPECT_TRUE(says(result, "FAIL Fuzzed.Crashes: crash: the test process was killed by signal"));
  EXPECT_TRUE(says(result, "random() in 'main' gives 1 of 8"));
  EXPECT_FALSE(says(result, "longest runs")) << "an input is more than a seed";
}

TEST_F(FuzzPlan, LosesNothingWhenItsWorkersAreKilled) {
  for (const char* plan : {"calm", "killed"}) make_plan(plan, kLock, "--runs 1000 --lease 1s");
  work("calm", "--jobs 1");
  for (const int chunks_done : {1, 2, 3}) {
    const Finished killed = run_until(path("killed/results"), chunks_done,
                                      tool() + " fleet work " + path("killed") + " --jobs 1");
    EXPECT_EQ(killed.exit_code, 137) << killed.output;
  }
  work("killed");
  for (const char* part : {"/results", "/inputs", "/conflicts"}) {
    EXPECT_EQ(files_in(std::string("calm") + part), files_in(std::string("killed") + part)) << part;
  }
}

TEST_F(FuzzPlan, BeginsWithACorpusThatIsKnown) {
  make_plan("first", kLock, "--runs 1000");
  work("first");
  const Finished first = result_of("first", "--corpus " + path("corpus") + " --layout afl");
  EXPECT_EQ(first.exit_code, 0) << first.output;
  const std::vector<std::string> queue =
      files_in(std::string("corpus/") + kLock + "/fermata/queue");
  ASSERT_FALSE(queue.empty());
  EXPECT_TRUE(queue.front().starts_with("id:000000,orig:")) << queue.front();

  // AFL++ keeps other files beside the queue.
  files::create_directories(path("corpus") + "/" + kLock + "/fermata/crashes");
  std::ofstream(path("corpus") + "/" + kLock + "/fermata/crashes/README.txt") << "statistics";
  std::ofstream(path("corpus") + "/" + kLock + "/fermata/fuzzer_stats") << "statistics";
  make_plan("second", kLock, "--runs 250 --corpus " + path("corpus"));
  const std::set<std::string> known = contents_in("second/inputs");
  EXPECT_EQ(known, contents_in(std::string("corpus/") + kLock + "/fermata/queue"));
  work("second");
  const std::set<std::string> inputs = contents_in("second/inputs");
  EXPECT_TRUE(std::includes(inputs.begin(), inputs.end(), known.begin(), known.end()));
  const Finished second = result_of("second", "--corpus " + path("plain"));
  EXPECT_TRUE(says(second, std::string(kLock) + ": "));
  // The least that reaches as much: what was found may stand for two that were known.
  const std::set<std::string> corpus = contents_in(std::string("plain/") + kLock);
  EXPECT_FALSE(corpus.empty());
  EXPECT_TRUE(std::includes(inputs.begin(), inputs.end(), corpus.begin(), corpus.end()));
}

TEST_F(FuzzPlan, RefusesWhatItCannotFuzz) {
  expect_refused(plan_command("plan", kLock, "--runs 250 --strategy random"), "--strategy");
  expect_refused(plan_command("plan", kLock, "--runs 250 --corpus " + path("none")),
                 "--corpus: there is no folder");
  expect_refused(tool() + " fleet fuzz " FERMATA_BINARY_DIR "/tests/fleet/fleet_specimen --plan " +
                     path("plan") + " --runs 250",
                 "linked with fermata::libfuzzer_main");
  EXPECT_FALSE(files::exists(path("plan")));
  make_plan("plan", kLock, "--runs 250");
  expect_refused(tool() + " fleet result " + path("plan") + " --layout zip",
                 "'zip' is unknown; expected plain or afl");
}

}  // namespace
}  // namespace fermata::testing
