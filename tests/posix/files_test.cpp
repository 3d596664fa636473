// SPDX-License-Identifier: Apache-2.0

// Files of a simulated machine, as calls of the C library see them: in time, at crashes, at the end
// of a process.

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/file.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class PosixFiles : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

int make(const char* path, std::string_view text = {}) {
  const int descriptor = ::open(path, O_RDWR | O_CREAT, 0644);
  EXPECT_GE(descriptor, 0) << path;
  EXPECT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  return descriptor;
}

std::string contents(const char* path) {
  const int descriptor = ::open(path, O_RDONLY);
  if (descriptor < 0) return "-";
  std::string text(1000, '\0');
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  ::close(descriptor);
  text.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return text;
}

TEST_F(PosixFiles, AreOnTheDiskOfTheMachine) {
  run_alone([] {
    ::close(make("greeting", "hello"));
    EXPECT_EQ(File::open("greeting").size(), 5u);
  });
  EXPECT_NE(::access("greeting", F_OK), 0);
}

TEST_F(PosixFiles, ACallTakesTheTimeOfTheDisk) {
  run_alone([] {
    const Instant begun = now();
    const int file = make("a", "text");
    EXPECT_EQ(::fsync(file), 0);
    EXPECT_GE(now() - begun, 60us);
  });
}

TEST_F(PosixFiles, OtherCoroutinesRunMeanwhile) {
  run_alone([] {
    bool has_run = false;
    auto other = spawn([&] { has_run = true; });
    ::close(make("a"));
    EXPECT_TRUE(has_run);
    await(other);
  });
}

TEST_F(PosixFiles, InACallbackACallTakesNoTime) {
  class Writer final : public backend::Microtask {
    void run() override {
      const Instant begun = now();
      ::close(make("a", "text"));
      EXPECT_EQ(contents("a"), "text");
      EXPECT_EQ(now(), begun);
    }
  };
  run_alone([] {
    auto* const writer = new Writer;
    current_runtime().queue_microtask(*writer);
    writer->release();
    delay(1ms);
    EXPECT_EQ(contents("a"), "text");
  });
}

// --- crashes ---

/// Crashes the machine once and looks at what is left, for many seeds.
class PosixFilesAtCrashes : public test::WorldFixture {
 protected:
  /// What `look` tells after the crash, in all runs.
  std::set<std::string> left(const std::function<void()>& write,
                             const std::function<std::string()>& look) {
    constexpr std::uint64_t kSeeds = 200;
    std::set<std::string> found;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      begin(seed);
      int life = 0;
      world_->service("main", [&] {
        if (++life == 2) {
          found.insert(look());
          return;
        }
        write();
        delay(1h);
      });
      world_->at(1s, [this] { world_->node("main").crash(); });
      world_->at(2s, [this] { world_->node("main").restart(); });
      world_->node("other", [] { delay(3s); });
      run();
    }
    return found;
  }
};

TEST_F(PosixFilesAtCrashes, WhatIsWrittenWithOSyncIsKept) {
  const auto found = left(
      [] {
        ::close(make("a"));
        const int file = ::open("a", O_WRONLY | O_DSYNC);
        const int other = ::open("b", O_WRONLY | O_CREAT | O_SYNC, 0644);
        EXPECT_EQ(::fsync(::open("/", O_RDONLY | O_DIRECTORY)), 0);
        EXPECT_EQ(::write(file, "abc", 3), 3);
        EXPECT_EQ(::pwrite(other, "de", 2, 0), 2);
      },
      [] { return contents("a") + contents("b"); });
  EXPECT_EQ(found, (std::set<std::string>{"abcde"}));
}

TEST_F(PosixFilesAtCrashes, WhatIsNotSyncedIsKeptLostOrTorn) {
  const auto found = left(
      [] {
        const int file = make("a");
        ::fsync(file);
        const int root = ::open("/", O_RDONLY | O_DIRECTORY);
        EXPECT_EQ(::fsync(root), 0);
        EXPECT_EQ(::write(file, "abc", 3), 3);
      },
      [] { return contents("a"); });
  EXPECT_EQ(found, (std::set<std::string>{"", "a", "ab", "abc"}));
}

TEST_F(PosixFilesAtCrashes, WhatIsSyncedStays) {
  const auto found = left(
      [] {
        const int file = make("a", "abc");
        EXPECT_EQ(::fdatasync(file), 0);
        EXPECT_EQ(::fsync(::open("/", O_RDONLY | O_DIRECTORY)), 0);
      },
      [] { return contents("a"); });
  EXPECT_EQ(found, std::set<std::string>{"abc"});
}

TEST_F(PosixFilesAtCrashes, ANameIsLostWhoseDirectoryIsNotSynced) {
  const auto found =
      left([] { EXPECT_EQ(::fsync(make("a", "abc")), 0); }, [] { return contents("a"); });
  EXPECT_EQ(found, (std::set<std::string>{"-", "abc"}));
}

TEST_F(PosixFilesAtCrashes, EachNameOfAFileIsLostByItself) {
  const auto found = left(
      [] {
        EXPECT_EQ(::fsync(make("a", "x")), 0);
        EXPECT_EQ(::fsync(::open("/", O_RDONLY | O_DIRECTORY)), 0);
        EXPECT_EQ(::link("a", "b"), 0);
        EXPECT_EQ(::symlink("a", "c"), 0);
      },
      [] { return contents("a") + contents("b") + contents("c"); });
  EXPECT_EQ(found, (std::set<std::string>{"x--", "xx-", "x-x", "xxx"}));
}

TEST_F(PosixFilesAtCrashes, SyncMakesAllDurable) {
  const auto found = left(
      [] {
        EXPECT_EQ(::mkdir("d", 0755), 0);
        ::close(make("d/a", "x"));
        ::sync();
      },
      [] { return contents("d/a"); });
  EXPECT_EQ(found, std::set<std::string>{"x"});
}

// --- faults ---

/// What calls come to in runs with all faults, as far as it is not what they come to without.
TEST_F(PosixFiles, AllFaultsOfTheDiskReachThem) {
  std::set<std::string> seen;
  const auto note = [&](const char* call, ssize_t result, ssize_t usual) {
    if (result == usual) return;
    seen.insert(std::string(call) + (result < 0 ? std::strerror(errno) : "in part"));
  };
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    begin(seed, FaultSet::all());
    world_->node("main", [&] {
      const int file = ::open("a", O_RDWR | O_CREAT, 0644);
      note("open: ", file, 3);
      if (file < 0) return;
      const ssize_t size = ::write(file, "some text", 9);
      note("write: ", size, 9);
      note("fsync: ", ::fsync(file), 0);
      std::array<char, 9> buffer{};
      if (size > 0) note("pread: ", ::pread(file, buffer.data(), 9, 0), size);
      note("mkdir: ", ::mkdir("d", 0755), 0);
    });
    run();
  }
  EXPECT_EQ(seen, (std::set<std::string>{
                      "open: No space left on device", "open: Too many open files",
                      "write: No space left on device", "write: Input/output error",
                      "write: in part", "fsync: Input/output error", "pread: Input/output error",
                      "pread: in part", "mkdir: No space left on device"}));
}

// --- cancellation, and the end ---

TEST_F(PosixFiles, ACallThatIsCancelledHasHappenedOrNot) {
  std::set<std::pair<ssize_t, std::string>> seen;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    begin(seed);
    world_->node("main", [&] {
      const int file = make("a");
      ssize_t result = 0;
      auto writer = spawn([&] {
        result = ::write(file, "x", 1);
        if (result < 0) result = -errno;
        EXPECT_EQ(::write(file, "y", 1), -1);
        EXPECT_EQ(errno, ECANCELED);
      });
      delay(10us);
      writer.cancel();
      delay(1s);
      seen.emplace(result, contents("a"));
    });
    run();
  }
  EXPECT_EQ(seen, (std::set<std::pair<ssize_t, std::string>>{{-EINTR, ""}, {1, "x"}}));
}

TEST_F(PosixFiles, AreClosedWhenTheProcessEnds) {
  std::vector<std::string> found;
  world_->service("main", [&] {
    found.push_back(contents("a"));
    const int file = make("a", "x");
    EXPECT_EQ(file, 3);
    EXPECT_EQ(::mkdir("d", 0755), found.size() == 1 ? 0 : -1);
    EXPECT_EQ(::chdir("d"), 0);
    EXPECT_EQ(::fsync(file), 0);
    ::sync();
    delay(1h);
  });
  world_->at(1s, [this] { world_->node("main").crash(); });
  world_->at(2s, [this] { world_->node("main").restart(); });
  world_->node("other", [] { delay(3s); });
  run();
  EXPECT_EQ(found, (std::vector<std::string>{"-", "x"}));
}

// --- locks ---

TEST_F(PosixFiles, ALockOfADescriptionIsWaitedFor) {
  run_alone([] {
    const int one = make("a");
    const int other = ::open("a", O_RDWR);
    EXPECT_EQ(::flock(one, LOCK_EX), 0);
    EXPECT_EQ(::flock(other, LOCK_SH | LOCK_NB), -1);
    EXPECT_EQ(errno, EWOULDBLOCK);
    bool has_it = false;
    auto waiter = spawn([&] {
      EXPECT_EQ(::flock(other, LOCK_SH), 0);
      has_it = true;
    });
    delay(1s);
    EXPECT_FALSE(has_it);
    EXPECT_EQ(::flock(one, LOCK_SH), 0);
    await(waiter);
    EXPECT_TRUE(has_it);
  });
}

TEST_F(PosixFiles, ClosingAnyDescriptorLosesTheLocksOfTheProcess) {
  run_alone([] {
    const int one = make("a");
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    EXPECT_EQ(::fcntl(one, F_SETLK, &lock), 0);
    struct flock asked = {};
    asked.l_type = F_RDLCK;
    EXPECT_EQ(::fcntl(one, F_OFD_GETLK, &asked), 0);
    EXPECT_EQ(asked.l_type, F_WRLCK);
    ::close(::open("a", O_RDONLY));
    asked.l_pid = 0;
    asked.l_type = F_RDLCK;
    EXPECT_EQ(::fcntl(one, F_OFD_GETLK, &asked), 0);
    EXPECT_EQ(asked.l_type, F_UNLCK);
  });
}

TEST_F(PosixFiles, LocksOfTheRuntimeAreThoseOfFlock) {
  run_alone([] {
    const int foreign = make("a");
    File file = File::open("a");
    std::optional<FileLock> lock = file.lock();
    EXPECT_EQ(::flock(foreign, LOCK_SH | LOCK_NB), -1);
    EXPECT_EQ(errno, EWOULDBLOCK);
    const auto waiter = spawn([&] { EXPECT_EQ(::flock(foreign, LOCK_EX), 0); });
    delay(1s);
    EXPECT_FALSE(waiter->is_completed());
    lock.reset();
    await(waiter);
    EXPECT_FALSE(file.try_lock_shared());
    const auto closer = spawn([&] {
      delay(1s);
      ::close(foreign);
    });
    const Instant before = now();
    EXPECT_TRUE(file.lock().owns_lock());
    EXPECT_GE(now() - before, 1s);
    await(closer);
  });
}

// --- functions that are more than one call ---

TEST_F(PosixFiles, DirectoriesAreListed) {
  run_alone([] {
    EXPECT_EQ(::mkdir("d", 0755), 0);
    ::close(make("d/b"));
    EXPECT_EQ(::symlink("b", "d/a"), 0);
    DIR* const stream = ::opendir("d");
    ASSERT_NE(stream, nullptr);
    std::string names;
    while (const dirent* const entry = ::readdir(stream)) {
      names += std::string(entry->d_name) + std::to_string(entry->d_type) + " ";
    }
    EXPECT_EQ(names, ".4 ..4 a10 b8 ");
    ::rewinddir(stream);
    EXPECT_STREQ(::readdir(stream)->d_name, ".");
    EXPECT_EQ(::closedir(stream), 0);
    EXPECT_EQ(::opendir("none"), nullptr);
    EXPECT_EQ(errno, ENOENT);
  });
}

TEST_F(PosixFiles, PathsAreResolved) {
  run_alone([] {
    EXPECT_EQ(::mkdir("d", 0755), 0);
    EXPECT_EQ(::mkdir("d/e", 0755), 0);
    EXPECT_EQ(::symlink("d/e", "link"), 0);
    EXPECT_EQ(::chdir("link"), 0);
    std::array<char, PATH_MAX> path{};
    EXPECT_STREQ(::getcwd(path.data(), path.size()), "/d/e");
    EXPECT_STREQ(::realpath("../../link/..", path.data()), "/d");
    EXPECT_EQ(::realpath("none/x", path.data()), nullptr);
    EXPECT_EQ(errno, ENOENT);
    char* const given = ::realpath("/", nullptr);
    EXPECT_STREQ(given, "/");
    ::free(given);
  });
}

TEST_F(PosixFiles, TemporaryFilesHaveNamesOfTheirOwn) {
  run_alone([] {
    std::string first = "f-XXXXXX";
    std::string second = first;
    EXPECT_GE(::mkstemp(first.data()), 0);
    EXPECT_GE(::mkstemp(second.data()), 0);
    EXPECT_NE(first, second);
    std::string wrong = "f-XXXX";
    EXPECT_EQ(::mkstemp(wrong.data()), -1);
    EXPECT_EQ(errno, EINVAL);
    std::string directory = "d-XXXXXX";
    EXPECT_EQ(::mkdtemp(directory.data()), directory.data());
    struct stat status = {};
    EXPECT_EQ(::stat(directory.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode, static_cast<mode_t>(S_IFDIR | 0700));
  });
}

TEST_F(PosixFiles, AreSentToASocketOrCopied) {
  run_alone([] {
    const int file = make("a", "some text");
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    off_t offset = 5;
    EXPECT_EQ(::sendfile(ends[1], file, &offset, 100), 4);
    EXPECT_EQ(offset, 9);
    std::array<char, 10> buffer{};
    EXPECT_EQ(::read(ends[0], buffer.data(), buffer.size()), 4);
    EXPECT_STREQ(buffer.data(), "text");
    off64_t from = 0;
    EXPECT_EQ(::copy_file_range(file, &from, make("b"), nullptr, 4, 0), 4);
    EXPECT_EQ(contents("b"), "some");
  });
}

TEST_F(PosixFiles, ManyFunctionsTellWhatIsKnownOfAFile) {
  run_alone([] {
    const int file = make("a", "text");
    struct stat known = {};
    EXPECT_EQ(::fstat(file, &known), 0);
    EXPECT_EQ(known.st_nlink, 1u);
    EXPECT_EQ(known.st_blocks, 8);
    struct statx extended = {};
    EXPECT_EQ(::statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &extended), 0);
    EXPECT_EQ(extended.stx_size, 4u);
    EXPECT_EQ(extended.stx_ino, known.st_ino);
    EXPECT_EQ(extended.stx_mtime.tv_sec, known.st_mtim.tv_sec);
    struct stat64 at = {};
    EXPECT_EQ(::fstatat64(::open("/", O_PATH), "a", &at, 0), 0);
    EXPECT_EQ(at.st_dev, known.st_dev);
    struct statvfs space = {};
    EXPECT_EQ(::statvfs("a", &space), 0);
    EXPECT_EQ(space.f_blocks - space.f_bfree, 1u);
    struct statfs other = {};
    EXPECT_EQ(::fstatfs(file, &other), 0);
    EXPECT_EQ(other.f_bfree, space.f_bfree);
    EXPECT_EQ(::fstat(0, &known), 0);
    EXPECT_TRUE(S_ISCHR(known.st_mode));
    EXPECT_EQ(::stat("/dev/null", &known), 0);
    EXPECT_TRUE(S_ISCHR(known.st_mode));
  });
}

TEST_F(PosixFiles, AreWrittenInManyWays) {
  run_alone([] {
    const int file = make("a");
    EXPECT_EQ(::dprintf(file, "%d lines", 2), 7);
    const iovec piece = {const_cast<char*>("3"), 1};
    EXPECT_EQ(::pwritev2(file, &piece, 1, 0, RWF_SYNC), 1);
    EXPECT_EQ(contents("a"), "3 lines");
    EXPECT_EQ(::isatty(file), 0);
    EXPECT_EQ(errno, ENOTTY);
    EXPECT_EQ(::fgetxattr(file, "user.x", nullptr, 0), -1);
    EXPECT_EQ(errno, ENOTSUP);
    EXPECT_EQ(::close_range(3, ~0u, 0), 0);
    EXPECT_EQ(::write(file, "x", 1), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(make("a"), 3);
  });
}

TEST_F(PosixFiles, BelongToRootWhoeverRunsTheTest) {
  run_alone([] {
    struct stat known = {};
    EXPECT_EQ(::fstat(make("a"), &known), 0);
    EXPECT_EQ(known.st_uid, ::geteuid());
    EXPECT_EQ(known.st_gid, ::getegid());
    EXPECT_EQ(::getuid(), 0u);
    EXPECT_EQ(::getgid(), 0u);
    EXPECT_EQ(::chown("a", 7, static_cast<gid_t>(-1)), 0);
    EXPECT_EQ(::stat("a", &known), 0);
    EXPECT_EQ(known.st_uid, 7u);
    EXPECT_EQ(known.st_gid, 0u);
  });
}

TEST_F(PosixFiles, TimesAreThoseOfTheMachinesClock) {
  run_alone([] {
    const int file = make("a");
    struct stat before = {};
    struct stat after = {};
    EXPECT_EQ(::fstat(file, &before), 0);
    delay(1h);
    EXPECT_EQ(::write(file, "x", 1), 1);
    EXPECT_EQ(::fstat(file, &after), 0);
    EXPECT_EQ(after.st_mtim.tv_sec - before.st_mtim.tv_sec, 3600);
    EXPECT_EQ(after.st_ino, before.st_ino);
    EXPECT_EQ(after.st_size, 1);
  });
}

}  // namespace
}  // namespace fermata::sim
