// SPDX-License-Identifier: Apache-2.0

// What nothing serves yet fails by its name.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>

#include "fermata/posix/foreign_code.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

class Unserved : public test::WorldFixture {};

// SQLite is loaded here, so that programs need not be linked with it.
TEST_F(Unserved, AFileThatALibraryOpensFailsTheRun) {
  void* const library = ::dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << ::dlerror();
  using Open = int(const char*, void**);
  auto* const open = reinterpret_cast<Open*>(::dlsym(library, "sqlite3_open"));
  ASSERT_NE(open, nullptr);
  EXPECT_TRUE(posix::is_foreign_code(reinterpret_cast<const void*>(open)));
  using Close = int(void*);
  auto* const close = reinterpret_cast<Close*>(::dlsym(library, "sqlite3_close"));
  world_->node("main", [=] {
    void* database = nullptr;
    open("unserved_test.db", &database);
    close(database);
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  const std::string& message = world_->failure()->message;
  EXPECT_EQ(message.find("libsqlite3.so.0 calls "), 0u) << message;
  EXPECT_NE(message.find("(), which is not served in simulated code"), std::string::npos)
      << message;
  EXPECT_NE(::access("unserved_test.db", F_OK), 0);
}

TEST_F(Unserved, TheProgramsOwnCallsFailAsWell) {
  world_->node("main", [] {
    struct stat status = {};
    EXPECT_EQ(::stat("/", &status), -1);
    EXPECT_EQ(errno, ENOSYS);
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_NE(world_->failure()->message.find(" calls stat(), which is not served"),
            std::string::npos)
      << world_->failure()->message;
}

TEST_F(Unserved, StreamsOfTheCppLibraryGoOnToTheSystem) {
  const std::string path = ::testing::TempDir() + "unserved_test.txt";
  world_->node("main", [&] {
    std::ofstream(path) << "written";
    std::string read;
    std::ifstream(path) >> read;
    EXPECT_EQ(read, "written");
  });
  run();
  std::remove(path.c_str());
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
