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

namespace {

/// A folder for the ids, in place of the one that the whole run notes them in.
class Checks : public ::testing::Test {
 protected:
  Checks() {
    char name[] = "/tmp/fermata_checks_XXXXXX";
    folder_ = ::mkdtemp(name);
    ::setenv("FERMATA_CHECKS_OUT", folder_.c_str(), 1);
  }
  ~Checks() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string noted_by(pid_t pid) const {
    std::ifstream file(folder_ / (std::to_string(pid) + ".checks"));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::filesystem::path folder_;
};

// One case, since a process reads the folder's name once: what is noted, by whom, and what
// survives.
TEST_F(Checks, AreNotedAtOnceByEachProcessAndSurviveACrash) {
  const std::string test = "Checks.AreNotedAtOnceByEachProcessAndSurviveACrash";
  const std::string by_parent = "A-01\t" + test + "\t1\nA-02\t" + test + "\t1\n";
  FERMATA_CHECKS("A-01", "A-02");
  FERMATA_CHECKS("A-02");
  EXPECT_EQ(noted_by(::getpid()), by_parent);

  const pid_t child = ::fork();
  if (child == 0) {
    FERMATA_CHECKS("A-02", "A-03");
    ::_exit(1);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(noted_by(child), "A-02\t" + test + "\t1\nA-03\t" + test + "\t1\n");
  EXPECT_EQ(noted_by(::getpid()), by_parent);
}

}  // namespace
