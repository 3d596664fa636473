// SPDX-License-Identifier: Apache-2.0

// Simulated tests in Catch2 and doctest: one failure of a test for all its runs, with a line that
// repeats it.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/meta/process.hpp"

namespace fermata::testing {
namespace {

class Adapters : public ::testing::Test {
 protected:
  ~Adapters() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] static std::string program(const std::string& framework) {
    return FERMATA_BINARY_DIR "/tests/end_to_end/" + framework + "_specimen";
  }
  [[nodiscard]] Finished run(const std::string& framework, const std::string& arguments,
                             const std::string& settings = "FERMATA_RUNS=200") const {
    return run_shell(settings + " FERMATA_OUT=" + folder_ + ' ' + program(framework) + ' ' +
                     arguments);
  }
  [[nodiscard]] Finished repeat(const Finished& found) const {
    const std::string marker = "reproduce: ";
    const std::size_t begin = found.output.find(marker);
    if (begin == std::string::npos) return {};
    const std::size_t from = begin + marker.size();
    return run_shell("FERMATA_OUT=" + folder_ + ' ' +
                     found.output.substr(from, found.output.find('\n', from) - from));
  }

  const std::string folder_ = ::testing::TempDir() + "fermata_adapters_" +
                              ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

class Catch2 : public Adapters {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(program("catch2"))) GTEST_SKIP() << "Catch2 2 is not installed";
  }
};

class Doctest : public Adapters {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(program("doctest"))) GTEST_SKIP() << "doctest is not installed";
  }
};

TEST_F(Catch2, PassesWhatHoldsInEachRun) {
  const Finished passed = run("catch2", "'deposits in turn are kept'");
  EXPECT_EQ(passed.exit_code, 0) << passed.output;
  EXPECT_TRUE(says(passed, "explored 200 schedules"));
  EXPECT_EQ(run("catch2", "'is not simulated'").exit_code, 0);
  const Finished refused = run("catch2", "[refused]");
  EXPECT_EQ(refused.exit_code, 0) << refused.output;
}

TEST_F(Catch2, ReportsOneFailureForAllRuns) {
  const Finished found = run("catch2", "'deposits\\, \\[at once] are lost'");
  EXPECT_NE(found.exit_code, 0) << found.output;
  EXPECT_TRUE(says(found, "safety: "));
  EXPECT_TRUE(says(found, "REQUIRE(balance == 2): 1 == 2"));
  EXPECT_TRUE(says(found, "test cases: 1 | 1 failed"));
  EXPECT_EQ(times(found.output, "reproduce: "), 1u) << found.output;
  const Finished again = repeat(found);
  EXPECT_NE(again.exit_code, 0) << again.output;
  EXPECT_TRUE(says(again, "REQUIRE(balance == 2): 1 == 2"));
  EXPECT_TRUE(says(again, "test cases: 1 | 1 failed"));
}

TEST_F(Catch2, ReportsTheFirstOfSeveralChecks) {
  const Finished found = run("catch2", "'goes on after a check'");
  EXPECT_TRUE(says(found, "CHECK(1 == 2): 1 == 2"));
  EXPECT_FALSE(says(found, "3 == 4"));
  EXPECT_TRUE(says(run("catch2", "'throws where nothing should'"), "unexpected exception"));
  EXPECT_TRUE(says(run("catch2", "'has sections'"), "expected a test case for each"));
}

TEST_F(Catch2, SaysWhatIsSkipped) {
  const Finished skipped = run("catch2", "'is skipped'");
  EXPECT_EQ(skipped.exit_code, 0) << skipped.output;
  EXPECT_TRUE(says(skipped, "skipped: no such device"));
  EXPECT_FALSE(says(run("catch2", "'is skipped'", "FERMATA_SEEED=1"), "explored"));
}

TEST_F(Doctest, PassesAndFailsOnce) {
  const Finished passed = run("doctest", "--test-case='passes in every order'");
  EXPECT_EQ(passed.exit_code, 0) << passed.output;
  EXPECT_TRUE(says(passed, "explored 200 schedules"));
  const Finished found = run("doctest", "--test-case='fails\\, in one order'");
  EXPECT_NE(found.exit_code, 0) << found.output;
  EXPECT_TRUE(says(found, "nobody overtakes"));
  EXPECT_EQ(times(found.output, "reproduce: "), 1u) << found.output;
  const Finished again = repeat(found);
  EXPECT_NE(again.exit_code, 0) << again.output;
  EXPECT_TRUE(says(again, "nobody overtakes"));
  EXPECT_TRUE(says(again, "1 failed"));
}

TEST_F(Doctest, SaysWhatIsSkipped) {
  const Finished skipped = run("doctest", "--test-case='is skipped'");
  EXPECT_EQ(skipped.exit_code, 0) << skipped.output;
  EXPECT_TRUE(says(skipped, "skipped: no such device"));
}

}  // namespace
}  // namespace fermata::testing
