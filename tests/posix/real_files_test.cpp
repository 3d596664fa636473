// SPDX-License-Identifier: Apache-2.0

// Real files that a simulated machine shows to foreign code.

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

/// There is a folder "shown" with a file and a folder.
class RealFiles : public test::WorldFixture {
 protected:
  RealFiles() {
    std::string made = ::testing::TempDir() + "real_files_XXXXXX";
    folder_ = std::filesystem::canonical(::mkdtemp(made.data())).string();
    std::filesystem::create_directories(folder_ + "/shown/below");
    std::ofstream(folder_ + "/shown/file") << "contents";
    std::ofstream(folder_ + "/shown/below/other") << "more";
    std::ofstream(folder_ + "/hidden") << "secret";
    std::filesystem::create_symlink(folder_ + "/hidden", folder_ + "/shown/link");
    shown_ = folder_ + "/shown";
  }
  ~RealFiles() override { std::filesystem::remove_all(folder_); }

  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body)).show_real_files(shown_);
    run();
  }

  /// The errno of a call that fails, or 0.
  static int code(long result) { return result < 0 ? errno : 0; }

  [[nodiscard]] static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
  std::string shown_;
};

TEST_F(RealFiles, CanBeReadWhereTheyAreShown) {
  run_alone([&] {
    EXPECT_EQ(text_of(shown_ + "/file"), "contents");
    EXPECT_EQ(text_of(shown_ + "/below/other"), "more");
    EXPECT_EQ(text_of(shown_ + "/below/../link"), "secret");
    EXPECT_EQ(text_of(folder_ + "/hidden"), "");
    EXPECT_EQ(::chdir((shown_ + "/below").c_str()), 0);
    EXPECT_EQ(text_of("other"), "more");
    EXPECT_EQ(text_of("../file"), "contents");
    const int file = ::open((shown_ + "/file").c_str(), O_RDONLY);
    EXPECT_EQ(::lseek(file, 0, SEEK_END), 8);
    void* const memory = ::mmap(nullptr, 8, PROT_READ, MAP_PRIVATE, file, 0);
    ASSERT_NE(memory, MAP_FAILED);
    EXPECT_EQ(std::string(static_cast<const char*>(memory), 8), "contents");
    ::munmap(memory, 8);
    std::set<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(shown_)) {
      names.insert(each.path().filename().string() + (each.is_directory() ? "/" : ""));
    }
    EXPECT_EQ(names, (std::set<std::string>{"below/", "file", "link"}));
  });
}

TEST_F(RealFiles, AreNotThereUnlessTheyAreShown) {
  world_->node("main", [&] { EXPECT_EQ(text_of(shown_ + "/file"), ""); });
  run();
}

TEST_F(RealFiles, CannotBeChanged) {
  run_alone([&] {
    const std::string file = shown_ + "/file";
    const std::string made = shown_ + "/new";
    const char* const there = file.c_str();
    EXPECT_EQ(code(::open(there, O_WRONLY)), EROFS);
    EXPECT_EQ(code(::open(there, O_RDWR | O_CREAT, 0644)), EROFS);
    EXPECT_EQ(code(::open(there, O_RDONLY | O_TRUNC)), EROFS);
    EXPECT_EQ(code(::open(made.c_str(), O_RDONLY | O_CREAT, 0644)), EROFS);
    EXPECT_EQ(code(::access(there, R_OK)), 0);
    EXPECT_EQ(code(::access(there, W_OK)), EROFS);
    EXPECT_EQ(code(::unlink(there)), EROFS);
    EXPECT_EQ(code(::rename(there, "/mine")), EROFS);
    EXPECT_EQ(code(::mkdir(made.c_str(), 0755)), EROFS);
    EXPECT_EQ(code(::rmdir((shown_ + "/below").c_str())), EROFS);
    EXPECT_EQ(code(::symlink("x", made.c_str())), EROFS);
    EXPECT_EQ(code(::link(there, "/mine")), EROFS);
    EXPECT_EQ(code(::truncate(there, 0)), EROFS);
    EXPECT_EQ(code(::chmod(there, 0777)), EROFS);
    EXPECT_EQ(code(::utimensat(AT_FDCWD, there, nullptr, 0)), EROFS);
    const int open_file = ::open(there, O_RDONLY);
    EXPECT_EQ(code(::fchmod(open_file, 0777)), EROFS);
    EXPECT_EQ(code(::ftruncate(open_file, 0)), EROFS);
    EXPECT_EQ(code(::write(open_file, "x", 1)), EBADF);
    EXPECT_EQ(text_of(file), "contents");
  });
}

TEST_F(RealFiles, LookTheSameOnEveryMachine) {
  run_alone([&] {
    struct stat status = {};
    ASSERT_EQ(::stat((shown_ + "/file").c_str(), &status), 0);
    EXPECT_EQ(status.st_mtime, 946'684'800);
    EXPECT_EQ(status.st_mode, S_IFREG | 0444u);
    EXPECT_EQ(status.st_uid, 0u);
    EXPECT_EQ(status.st_size, 8);
    const ino_t inode = status.st_ino;
    ASSERT_EQ(::stat(shown_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode, S_IFDIR | 0555u);
    ::close(::open("/mine", O_CREAT | O_WRONLY, 0644));
    ASSERT_EQ(::stat("/mine", &status), 0);
    EXPECT_EQ(status.st_ino, 2u) << "the numbers of other files are as without them";
    EXPECT_GT(inode, ino_t{1} << 48);
  });
}

TEST_F(RealFiles, AreThereAfterACrash) {
  int life = 0;
  auto& service = world_->service("main", [&] {
    EXPECT_EQ(text_of(shown_ + "/file"), "contents");
    if (++life == 1) delay(1h);
  });
  service.show_real_files(shown_);
  world_->at(1s, [this] { world_->node("main").crash(); });
  world_->at(2s, [this] { world_->node("main").restart(); });
  world_->node("other", [] { delay(3s); });
  run();
  EXPECT_EQ(life, 2);
}

TEST_F(RealFiles, ThePathIsAPlainOne) {
  Node& node = world_->node("main", [] {});
  for (const char* path : {"", "usr", "/usr/", "/usr/../etc", "/usr//share"}) {
    EXPECT_THROW(node.show_real_files(path), UsageError) << path;
  }
  run();
}

TEST_F(RealFiles, AreFoundThroughLinks) {
  run_alone([&] {
    ASSERT_EQ(::symlink(shown_.c_str(), "/way"), 0);
    ASSERT_EQ(::symlink("/way/file", "/direct"), 0);
    EXPECT_EQ(text_of("/way/file"), "contents");
    EXPECT_EQ(text_of("/way/below/other"), "more");
    EXPECT_EQ(text_of("/direct"), "contents");
    EXPECT_EQ(code(::access("/way/nothing", F_OK)), ENOENT);
  });
}

TEST_F(RealFiles, CannotBeChangedThroughLinks) {
  run_alone([&] {
    ASSERT_EQ(::symlink(shown_.c_str(), "/way"), 0);
    ASSERT_EQ(::symlink("/way/file", "/direct"), 0);
    for (const char* const path : {"/way/file", "/direct"}) {
      EXPECT_EQ(code(::open(path, O_WRONLY)), EROFS);
      EXPECT_EQ(code(::open(path, O_RDONLY | O_TRUNC)), EROFS);
      EXPECT_EQ(code(::access(path, W_OK)), EROFS);
      EXPECT_EQ(code(::truncate(path, 0)), EROFS);
      EXPECT_EQ(code(::chmod(path, 0777)), EROFS);
    }
    EXPECT_EQ(code(::open("/way/new", O_WRONLY | O_CREAT, 0644)), EROFS);
    EXPECT_EQ(code(::unlink("/way/file")), EROFS);
    EXPECT_EQ(code(::rename("/way/file", "/mine")), EROFS);
    EXPECT_EQ(code(::rename("/direct", "/way/mine")), EROFS);
    EXPECT_EQ(code(::mkdir("/way/new", 0755)), EROFS);
    EXPECT_EQ(code(::rmdir("/way/below")), EROFS);
    EXPECT_EQ(code(::symlink("x", "/way/new")), EROFS);
    EXPECT_EQ(code(::link("/way/file", "/mine")), EROFS);
    EXPECT_EQ(code(::unlink("/direct")), 0) << "the link is not shown";
    EXPECT_EQ(code(::unlink("/way")), 0);
    EXPECT_EQ(text_of(shown_ + "/file"), "contents");
  });
}

TEST_F(RealFiles, CannotBeChangedByFermatasOwnFiles) {
  run_alone([&] {
    const std::string file = shown_ + "/file";
    ASSERT_EQ(text_of(file), "contents");
    EXPECT_THROW(static_cast<void>(File::open(file, OpenMode::writing())), InputOutputError);
    EXPECT_THROW(fs::remove(file), InputOutputError);
    EXPECT_THROW(fs::rename(file, shown_ + "/other"), InputOutputError);
    EXPECT_EQ(text_of(file), "contents");
  });
}

TEST_F(RealFiles, NoSocketIsBoundAmongThem) {
  run_alone([&] {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    ASSERT_LT(shown_.size() + 5, sizeof address.sun_path);
    std::strcpy(address.sun_path, (shown_ + "/new").c_str());
    EXPECT_EQ(code(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address)),
              EROFS);
    ::close(socket);
  });
}

}  // namespace
}  // namespace fermata::sim
