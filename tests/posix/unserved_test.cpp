// SPDX-License-Identifier: Apache-2.0

// What nothing serves yet fails by its name.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fermata/posix/foreign_code.hpp"
#include "tests/posix/library/stubborn.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

class Unserved : public test::WorldFixture {};

TEST_F(Unserved, ACommandThatALibraryRunsFailsTheRun) {
  world_->node("main", [] {
    EXPECT_EQ(stubborn_run("true"), -1);
    EXPECT_EQ(errno, ENOSYS);
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_EQ(world_->failure()->message,
            "libfermata_test_stubborn.so calls system(), which is not served in simulated code");
}

TEST_F(Unserved, TheProgramsOwnCallsFailAsWell) {
  world_->node("main", [] {
    EXPECT_EQ(std::system("true"), -1);
    EXPECT_EQ(errno, ENOSYS);
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_NE(world_->failure()->message.find(" calls system(), which is not served"),
            std::string::npos)
      << world_->failure()->message;
}

TEST_F(Unserved, DevicesCanBeOpened) {
  world_->node("main", [] {
    const int null = ::open("/dev/null", O_RDWR);
    ASSERT_EQ(null, 3);
    char byte = 'x';
    EXPECT_EQ(::write(null, &byte, 1), 1);
    EXPECT_EQ(::read(null, &byte, 1), 0);
    const int random = ::open("/dev/urandom", O_RDONLY);
    std::array<char, 16> first{};
    std::array<char, 16> second{};
    EXPECT_EQ(::read(random, first.data(), first.size()), 16);
    EXPECT_EQ(::read(random, second.data(), second.size()), 16);
    EXPECT_NE(first, second);
  });
  run();
}

TEST_F(Unserved, OnlyLibrariesOfOthersAreForeign) {
  EXPECT_TRUE(posix::is_foreign_library("/usr/lib/x86_64-linux-gnu/libhiredis.so.0.14"));
  EXPECT_TRUE(posix::is_foreign_library("libuv.so.1"));
  EXPECT_FALSE(posix::is_foreign_library("/lib/x86_64-linux-gnu/libc.so.6"));
  EXPECT_FALSE(posix::is_foreign_library("/lib64/ld-linux-x86-64.so.2"));
  EXPECT_FALSE(posix::is_foreign_library("/home/me/build/program"));
  EXPECT_FALSE(posix::is_foreign_library(""));
}

}  // namespace
}  // namespace fermata::sim
