// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/whole_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/sim/tape/tape.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::sim {
namespace {

using test::error_of;

TEST(WholeFile, ReplacesWhatIsThere) {
  const std::string path = ::testing::TempDir() + "fermata_whole_file";
  for (const std::size_t size : {100'000u, 10u}) {
    write_whole_file(path, std::string(size, 'x'));
    std::ifstream file(path, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), std::string(size, 'x'));
  }
  std::filesystem::remove(path);
}

TEST(WholeFile, NamesAFullDisk) {
  for (const std::size_t size : {10u, 10'000u, 1'000'000u}) {
    try {
      write_whole_file("/dev/full", std::string(size, 'x'), "the page ");
      ADD_FAILURE() << "written";
    } catch (const InputOutputError& error) {
      EXPECT_EQ(error.code(), ENOSPC);
      EXPECT_STREQ(error.what(), "cannot write the page /dev/full: No space left on device");
    }
  }
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

TEST(WholeFile, NamesAFolderThatIsNotThere) {
  EXPECT_EQ(error_of([] { write_whole_file("/proc/no/file", "x"); }),
            "cannot write /proc/no/file: No such file or directory");
}

TEST(WholeFile, SoDoesATape) {
  EXPECT_EQ(error_of([] { save_tape(Tape(), "/dev/full"); }),
            "cannot write the tape /dev/full: No space left on device");
}

}  // namespace
}  // namespace fermata::sim
