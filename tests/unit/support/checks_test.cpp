// SPDX-License-Identifier: Apache-2.0
#include "tests/support/checks.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace fermata::testing {
namespace {

/// A folder for the ids, in place of the one that the whole run notes them in: a process reads its
/// name once.
class Checks : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    char name[] = "/tmp/fermata_checks_XXXXXX";
    folder = ::mkdtemp(name);
    ::setenv("FERMATA_CHECKS_OUT", folder.c_str(), 1);
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

  static std::string noted_by(pid_t pid) {
    std::ifstream file(folder / (std::to_string(pid) + ".checks"));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  static inline std::filesystem::path folder;
};

std::string line(const std::string& id, const std::string& test, int count) {
  return id + '\t' + test + '\t' + std::to_string(count) + '\n';
}

TEST_F(Checks, CountFromTheFirstAssertionOnInEachProcessAndSurviveACrash) {
  const std::string test = "Checks.CountFromTheFirstAssertionOnInEachProcessAndSurviveACrash";
  const std::string by_parent = line("A-01", test, 1) + line("A-02", test, 1);
  {
    FERMATA_CHECKS("A-01", "A-02");
    EXPECT_EQ(noted_by(::getpid()), "");
  }
  {
    EXPECT_EQ(noted_by(::getpid()), by_parent);
    FERMATA_CHECKS("A-02", "A-03");  // No assertion of this block follows.
  }
  EXPECT_EQ(noted_by(::getpid()), by_parent);

  const pid_t crashes = ::fork();
  if (crashes == 0) {
    note_checked("A-03");
    note_checked("A-03");
    ::_exit(1);
  }
  ASSERT_EQ(::waitpid(crashes, nullptr, 0), crashes);
  EXPECT_EQ(noted_by(crashes), line("A-03", test, 1));

  const pid_t exits = ::fork();
  const std::string place = std::string(" ") + __FILE__ + ':' + std::to_string(__LINE__ + 4);
  if (exits == 0) {
    note_checked("A-03");
    note_checked("A-03");
    { FERMATA_CHECKS("A-03", "A-04"); }
    std::exit(0);
  }
  ASSERT_EQ(::waitpid(exits, nullptr, 0), exits);
  EXPECT_EQ(noted_by(exits),
            line("A-03", test, 1) + line("A-03", test, 1) + line("A-04", test + place, 0));
  EXPECT_EQ(noted_by(::getpid()), by_parent);
}

TEST_F(Checks, CountWithEveryKindOfAssertion) {
  const std::string test = "Checks.CountWithEveryKindOfAssertion";
  const std::string before = noted_by(::getpid());
  {
    FERMATA_CHECKS("B-01");
    ASSERT_NE(::getpid(), 0);
  }
  {
    FERMATA_CHECKS("B-02");
    EXPECT_TRUE(std::filesystem::exists("/"));
  }
  {
    FERMATA_CHECKS("B-03");
    EXPECT_THROW(throw 3, int);
  }
  {
    FERMATA_CHECKS("B-04");
    EXPECT_NO_THROW(noted_by(0));
  }
  {
    FERMATA_CHECKS("B-05");
    EXPECT_EXIT(std::exit(3), ::testing::ExitedWithCode(3), "");
  }
  std::string all = before;
  for (const char* id : {"B-01", "B-02", "B-03", "B-04", "B-05"}) all += line(id, test, 1);
  EXPECT_EQ(noted_by(::getpid()), all);
}

}  // namespace
}  // namespace fermata::testing
