// SPDX-License-Identifier: Apache-2.0

// What only Linux does to file watches.

#include "fermata/uv/file_watches.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/file_watcher.hpp"
#include "tests/conformance/scratch_folder.hpp"
#include "tests/conformance/uv_arm.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/open_descriptors.hpp"

namespace fermata::uv {
namespace {

using namespace std::chrono_literals;
using conformance::UvArm;

class UvFileWatches : public conformance::ScratchFolder<UvArm> {};

/// The names told until `name` is.
std::size_t events_until(FileWatcher& watcher, const std::string& name) {
  std::size_t count = 1;
  while (watcher.next({.timeout = 20s})->name != name) ++count;
  return count;
}

TEST_F(UvFileWatches, AskForARescanWhenTheQueueOverflows) {
  FERMATA_CHECKS("FS-01");
  std::size_t longest = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> longest;
  if (longest == 0 || longest > 100'000) GTEST_SKIP() << "a queue of " << longest;
  UvArm::run([&] {
    FileWatcher watcher(root_, {.recursive = true});
    std::filesystem::create_directory(path("known"));
    events_until(watcher, "known");
    for (std::size_t i = 0; i <= longest; i += 2) {  // Without a turn in between.
      std::ofstream(path("x"));
      std::filesystem::remove(path("x"));
    }
    std::filesystem::create_directory(path("lost"));
    events_until(watcher, "");
    events_until(watcher, "");  // All is watched again.
    std::ofstream(path("lost/note"));
    events_until(watcher, "lost/note");
    EXPECT_EQ(watcher.handle().places(), 3u);
  });
}

TEST_F(UvFileWatches, DoNotFollowLinks) {
  UvArm::run([&] {
    std::filesystem::create_directory(path("outside"));
    std::filesystem::create_directory(path("watched"));
    std::filesystem::create_directory_symlink(path("outside"), path("watched/link"));
    FileWatcher watcher(path("watched"), {.recursive = true});
    std::filesystem::create_directory_symlink(path("outside"), path("watched/second"));
    std::ofstream(path("outside/unseen"));
    std::ofstream(path("watched/end"));
    EXPECT_EQ(events_until(watcher, "end"), 2u);
    EXPECT_EQ(watcher.handle().places(), 1u);
    std::filesystem::create_directory_symlink(path("outside"), path("root"));
    FileWatcher through(path("root"));
    std::ofstream(path("outside/seen"));
    events_until(through, "seen");
  });
}

TEST_F(UvFileWatches, TellOfAttributes) {
  UvArm::run([&] {
    std::ofstream(path("file"));
    FileWatcher watcher(root_);
    std::filesystem::permissions(path("file"), std::filesystem::perms::owner_read);
    EXPECT_EQ(watcher.next({.timeout = 20s}), (FileEvent{FileChange::Change, "file"}));
  });
}

/// Two watches of one directory share a number of the kernel's.
TEST_F(UvFileWatches, LetGoOfADirectoryThatIsWatchedTwice) {
  UvArm::run([&] {
    std::filesystem::create_directory(path("sub"));
    FileWatcher whole(root_, {.recursive = true});
    {
      const FileWatcher part(path("sub"));
      EXPECT_TRUE(part.is_open());
    }
    std::ofstream(path("sub/note"));
    events_until(whole, "sub/note");
    FileWatcher part(path("sub"));
    std::filesystem::remove_all(path("sub"));
    events_until(whole, "sub");
    EXPECT_THROW(while (part.next({.timeout = 20s})) continue, InputOutputError);
    EXPECT_EQ(whole.handle().places(), 1u);
  });
}

TEST_F(UvFileWatches, GiveTheirDescriptorsBack) {
  UvArm::run([] {});  // libuv keeps two descriptors for the process.
  const auto before = test::open_descriptors();
  for (int i = 0; i < 3; ++i) {
    UvArm::run([&] { const FileWatcher watcher(root_, {.recursive = true}); });
    EXPECT_EQ(test::open_descriptors(), before);
  }
}

}  // namespace
}  // namespace fermata::uv
