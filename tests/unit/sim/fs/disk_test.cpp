// SPDX-License-Identifier: Apache-2.0

// The disk of a simulated machine, without a machine.

#include "fermata/sim/fs/disk.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/bytes.hpp"
#include "tests/support/splitmix.hpp"

namespace fermata::sim {
namespace {

using test::bytes_of;
using test::text_of;

std::uint64_t keep_all(std::uint64_t, std::uint64_t) { return 0; }
std::uint64_t lose_all(std::uint64_t, std::uint64_t) { return 1; }
/// Tears all writes in the middle, loses no name.
std::uint64_t tear_all(std::uint64_t, std::uint64_t bound) {
  return bound == 3 ? 2 : bound == 2 ? 0 : bound / 2;
}

class DiskTest : public ::testing::Test {
 protected:
  Disk::Inode open(const std::string& path, const OpenMode& mode = OpenMode::updating()) {
    Disk::Inode inode = 0;
    EXPECT_EQ(disk_.open(path, mode, inode), 0) << path;
    return inode;
  }
  int code_of_opening(const std::string& path, const OpenMode& mode = OpenMode::reading()) {
    Disk::Inode inode = 0;
    const int code = disk_.open(path, mode, inode);
    if (code == 0) disk_.release(inode);
    return code;
  }
  std::size_t write(Disk::Inode inode, std::string_view text, std::uint64_t offset = 0) {
    std::size_t moved = 0;
    EXPECT_EQ(disk_.write(inode, offset, bytes_of(text), text.size(), moved), 0);
    return moved;
  }
  /// "-" when there is none.
  std::string contents(const std::string& path) {
    Disk::Inode inode = 0;
    if (disk_.open(path, OpenMode::reading(), inode) != 0) return "-";
    std::string text = text_of(disk_.image(inode).seen());
    disk_.release(inode);
    return text;
  }
  /// A file with synced contents and a name that is not.
  Disk::Inode make(const std::string& path, std::string_view text) {
    const Disk::Inode inode = open(path);
    write(inode, text);
    disk_.sync(inode);
    return inode;
  }
  std::string names(const std::string& path) {
    std::vector<DirectoryEntry> entries;
    EXPECT_EQ(disk_.list(path, entries), 0);
    std::string text;
    for (const auto& entry : entries) text += entry.name + " ";
    return text;
  }

  Disk disk_{1000};
};

// --- names ---

TEST_F(DiskTest, ResolvesPaths) {
  EXPECT_EQ(disk_.make_directory("/a", 0755), 0);
  EXPECT_EQ(disk_.make_directory("a/b/", 0755), 0);
  make("/a/b/file", "x");
  for (const char* path : {"/a/b/file", "a//b/./file", "../a/b/../b/file", "/a/../../a/b/file"}) {
    EXPECT_EQ(contents(path), "x") << path;
  }
  EXPECT_EQ(code_of_opening("/a/c/file"), ENOENT);
  EXPECT_EQ(code_of_opening("/a/b/file/x"), ENOTDIR);
  EXPECT_EQ(code_of_opening("/a/b/file/"), ENOTDIR);
  EXPECT_EQ(code_of_opening("/a/b/file/.."), ENOTDIR);
  EXPECT_EQ(code_of_opening("/a/b/new/", OpenMode::updating()), EISDIR);
  EXPECT_EQ(code_of_opening(std::string(256, 'x')), ENAMETOOLONG);
  EXPECT_EQ(names("/a/.."), "a ");
}

TEST_F(DiskTest, RefusesWhatLinuxRefuses) {
  EXPECT_EQ(disk_.make_directory("/a", 0755), 0);
  EXPECT_EQ(disk_.make_directory("/a/b", 0755), 0);
  make("/f", "x");
  EXPECT_EQ(disk_.make_directory("/", 0755), EEXIST);
  EXPECT_EQ(disk_.make_directory("/f", 0755), EEXIST);
  EXPECT_EQ(disk_.make_directory("/none/a", 0755), ENOENT);
  EXPECT_EQ(disk_.remove("/a"), EISDIR);
  EXPECT_EQ(disk_.remove("/f/"), ENOTDIR);
  EXPECT_EQ(disk_.remove("/none"), ENOENT);
  EXPECT_EQ(disk_.remove_directory("/"), EBUSY);
  EXPECT_EQ(disk_.remove_directory("/a/."), EINVAL);
  EXPECT_EQ(disk_.remove_directory("/a"), ENOTEMPTY);
  EXPECT_EQ(disk_.remove_directory("/f"), ENOTDIR);
  EXPECT_EQ(disk_.rename("/none", "/x"), ENOENT);
  EXPECT_EQ(disk_.rename("/", "/x"), EBUSY);
  EXPECT_EQ(disk_.rename("/f", "/x/"), ENOTDIR);
  EXPECT_EQ(disk_.rename("/a", "/a/b/c"), EINVAL);
  EXPECT_EQ(disk_.rename("/a", "/f"), ENOTDIR);
  EXPECT_EQ(disk_.rename("/f", "/a"), EISDIR);
  EXPECT_EQ(disk_.rename("/a/b", "/a"), ENOTEMPTY);
  EXPECT_EQ(disk_.rename("/f", "/f"), 0);
  EXPECT_EQ(disk_.make_directory("/c", 0755), 0);
  EXPECT_EQ(disk_.rename("/c", "/a"), ENOTEMPTY);
  EXPECT_EQ(disk_.rename("/a", "/c"), 0);
  EXPECT_EQ(names("/"), "c f ");
  EXPECT_EQ(names("/c/b/.."), "b ");
}

TEST_F(DiskTest, GivesTheSpaceOfAFileBackWhenNobodyCanSeeIt) {
  const auto inode = make("/f", "12345");
  EXPECT_EQ(disk_.room(), 995u);
  EXPECT_EQ(disk_.remove("/f"), 0);
  EXPECT_EQ(disk_.room(), 995u);
  disk_.release(inode);
  EXPECT_EQ(disk_.room(), 1000u);
}

TEST_F(DiskTest, IsFullOnceItsSpaceIsUsed) {
  const auto inode = open("/f");
  EXPECT_EQ(write(inode, std::string(600, 'x')), 600u);
  EXPECT_EQ(write(inode, std::string(600, 'y'), 600), 400u);
  std::size_t moved = 0;
  EXPECT_EQ(disk_.write(inode, 1000, bytes_of("z"), 1, moved), ENOSPC);
  EXPECT_EQ(disk_.write(inode, backend::kOffsetMax, bytes_of("z"), 1, moved), EFBIG);
  EXPECT_EQ(write(inode, "z", 999), 1u);
  EXPECT_EQ(disk_.truncate(inode, 1001), ENOSPC);
  EXPECT_EQ(disk_.truncate(inode, 10), 0);
  EXPECT_EQ(disk_.room(), 990u);
}

TEST_F(DiskTest, HasNoRoomWhenACrashBringsBackMoreThanItHolds) {
  const auto first = make("/first", std::string(600, 'x'));
  disk_.sync_directory("/");
  EXPECT_EQ(disk_.truncate(first, 0), 0);
  const auto second = make("/second", std::string(600, 'y'));
  disk_.sync_directory("/");
  disk_.crash(lose_all);
  EXPECT_EQ(contents("/first").size() + contents("/second").size(), 1200u);
  EXPECT_EQ(disk_.room(), 0u);
  std::size_t moved = 0;
  EXPECT_EQ(disk_.write(second, 600, bytes_of("z"), 1, moved), ENOSPC);
  EXPECT_EQ(write(second, "z", 599), 1u);
}

// --- what lasts ---

TEST_F(DiskTest, KeepsAllInACalmCrash) {
  const auto inode = open("/f");
  write(inode, "abc");
  disk_.crash(keep_all);
  EXPECT_EQ(contents("/f"), "abc");
}

TEST_F(DiskTest, LosesContentsThatWereNotSynced) {
  const auto inode = make("/f", "old");
  disk_.sync_directory("/");
  write(inode, "newer");
  EXPECT_EQ(contents("/f"), "newer");
  disk_.crash(lose_all);
  EXPECT_EQ(contents("/f"), "old");
  EXPECT_EQ(disk_.room(), 997u);
}

TEST_F(DiskTest, LosesNamesThatWereNotSynced) {
  make("/f", "synced");
  disk_.crash(lose_all);
  EXPECT_EQ(contents("/f"), "-");
  EXPECT_EQ(disk_.room(), 1000u);

  make("/g", "synced");
  disk_.sync_directory("/");
  disk_.crash(lose_all);
  EXPECT_EQ(contents("/g"), "synced");

  EXPECT_EQ(disk_.remove("/g"), 0);
  EXPECT_EQ(contents("/g"), "-");
  disk_.crash(lose_all);
  EXPECT_EQ(contents("/g"), "synced");
}

TEST_F(DiskTest, SaysWhatACrashComesBetween) {
  EXPECT_EQ(disk_.crash_point_text(), "");
  const auto inode = open("/new");
  EXPECT_EQ(disk_.crash_point_text(),
            "after the new file 'new' and before the sync of its directory");
  write(inode, "abc");
  EXPECT_EQ(disk_.crash_point_text(), "after the write to 'new' and before its sync");
  EXPECT_EQ(disk_.rename("/new", "/f"), 0);
  EXPECT_EQ(disk_.crash_point_text(),
            "after the rename 'new' -> 'f' and before the sync of its directory");
  disk_.sync_directory("/");
  EXPECT_EQ(disk_.crash_point_text(), "after the write to 'f' and before its sync");
  disk_.sync(inode);
  EXPECT_EQ(disk_.crash_point_text(), "with everything synced");
  disk_.crash(keep_all);
  EXPECT_EQ(disk_.crash_point_text(), "");
}

TEST_F(DiskTest, TearsWrites) {
  const auto inode = make("/f", "........");
  write(inode, "abcdefgh");
  disk_.crash(tear_all);
  EXPECT_EQ(contents("/f"), "abcd....");
}

TEST_F(DiskTest, LosesWritesOneByOne) {
  const auto inode = make("/f", "");
  write(inode, "aa", 0);
  write(inode, "bb", 2);
  write(inode, "cc", 4);
  int draws = 0;
  disk_.crash([&](std::uint64_t, std::uint64_t bound) -> std::uint64_t {
    return bound == 3 && ++draws == 2 ? 1 : 0;
  });
  EXPECT_EQ(contents("/f"), std::string("aa\0\0cc", 6));
}

TEST_F(DiskTest, IsAsNewOnceItIsFormatted) {
  const std::vector<std::function<void()>> uses = {
      [] {},
      [&] { make("/f", "text"); },
      [&] { EXPECT_EQ(disk_.remove_directory("/missing"), ENOENT); },
      [&] { disk_.set_permissions(Disk::kRoot, 0500); },
      [&] { disk_.set_owner(Disk::kRoot, 1, 2); },
      [&] { disk_.set_times(Disk::kRoot, WallTime{}, disk_.attributes(Disk::kRoot).changed); },
      [&] { disk_.fix(Disk::kRoot); },
      [&] { static_cast<void>(disk_.open_unnamed(0600)); },
      [&] {
        static_cast<void>(disk_.open_unnamed(0600));
        disk_.crash(lose_all);
      },
      [&] { disk_.add_given(Disk::kRoot, "given", FileType::Regular); },
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    uses[i]();
    disk_.format();
    const Disk::Attributes root = disk_.attributes(Disk::kRoot);
    EXPECT_EQ(root.permissions, 0755u) << i;
    EXPECT_EQ(root.owner + root.group, 0u) << i;
    EXPECT_FALSE(disk_.is_fixed(Disk::kRoot)) << i;
    EXPECT_EQ(names("/"), "") << i;
    EXPECT_EQ(disk_.room(), disk_.capacity()) << i;
    EXPECT_EQ(open("/first"), Disk::kRoot + 1) << i;
    disk_.format();
  }
}

TEST_F(DiskTest, RenamesWholeOrNotAtAll) {
  for (const bool survives : {true, false}) {
    disk_.format();
    make("/old", "old");
    make("/new", "new");
    disk_.sync_directory("/");
    EXPECT_EQ(disk_.rename("/new", "/old"), 0);
    disk_.crash(survives ? keep_all : lose_all);
    EXPECT_EQ(contents("/old"), survives ? "new" : "old");
    EXPECT_EQ(contents("/new"), survives ? "-" : "new");
  }
}

TEST_F(DiskTest, MakesWithANameDurableWhatItRestsOn) {
  EXPECT_EQ(disk_.make_directory("/a", 0755), 0);
  EXPECT_EQ(disk_.make_directory("/b", 0755), 0);
  disk_.sync_directory("/");
  make("/a/f", "x");
  EXPECT_EQ(disk_.rename("/a/f", "/b/f"), 0);
  make("/a/g", "y");
  EXPECT_EQ(disk_.sync_directory("/b"), 0);
  disk_.crash(lose_all);
  EXPECT_EQ(contents("/b/f"), "x");
  EXPECT_EQ(names("/a"), "");
}

TEST_F(DiskTest, LosesWithANameWhatRestsOnIt) {
  make("/a", "x");
  disk_.sync_directory("/");
  EXPECT_EQ(disk_.rename("/a", "/b"), 0);
  EXPECT_EQ(disk_.rename("/b", "/c"), 0);
  make("/d", "y");
  int draws = 0;
  disk_.crash([&](std::uint64_t, std::uint64_t) -> std::uint64_t { return ++draws == 1 ? 1 : 0; });
  EXPECT_EQ(names("/"), "a d ");
}

TEST_F(DiskTest, NeverLosesDirectoriesInACircle) {
  for (const int lost : {1, 2, 3}) {
    disk_.format();
    for (const char* path : {"/a", "/a/x", "/a/x/b"})
      EXPECT_EQ(disk_.make_directory(path, 0755), 0);
    for (const char* path : {"/", "/a", "/a/x"}) EXPECT_EQ(disk_.sync_directory(path), 0);
    EXPECT_EQ(disk_.rename("/a/x", "/x"), 0);
    EXPECT_EQ(disk_.rename("/a", "/x/b/a"), 0);
    if (lost == 3) {
      EXPECT_EQ(disk_.sync_directory("/x/b"), 0);
    }
    int draws = 0;
    disk_.crash([&](std::uint64_t, std::uint64_t) -> std::uint64_t { return ++draws == lost; });
    EXPECT_EQ(names("/"), lost == 1 ? "a " : lost == 2 ? "a x " : "x ");
  }
}

TEST_F(DiskTest, ADirectoryThatIsBackAgainKnowsWhereItIs) {
  for (const char* path : {"/a", "/b", "/a/x"}) EXPECT_EQ(disk_.make_directory(path, 0755), 0);
  make("/a/f", "of a");
  make("/b/f", "of b");
  for (const char* path : {"/", "/a", "/b"}) EXPECT_EQ(disk_.sync_directory(path), 0);
  EXPECT_EQ(disk_.rename("/a/x", "/b/x"), 0);
  EXPECT_EQ(contents("/b/x/../f"), "of b");
  disk_.crash(lose_all);
  EXPECT_EQ(names("/b"), "f ");
  EXPECT_EQ(contents("/a/x/../f"), "of a");
}

TEST_F(DiskTest, ForgetsWhatAFailedSyncGaveUp) {
  const auto inode = make("/f", "old");
  disk_.sync_directory("/");
  write(inode, "new");
  disk_.give_up_changes(inode);
  write(inode, "!", 3);
  disk_.sync(inode);
  EXPECT_EQ(contents("/f"), "new!");
  disk_.crash(lose_all);
  EXPECT_EQ(contents("/f"), "old!");
}

TEST_F(DiskTest, SyncsNamesThroughAnOpenDirectoryToo) {
  make("/f", "x");
  disk_.sync(open("/", OpenMode::reading()));
  disk_.crash(lose_all);
  EXPECT_EQ(contents("/f"), "x");
}

// Whatever happens before and in a crash, what was synced is there, and nothing but what was
// written.
TEST_F(DiskTest, KeepsWhatWasSyncedInEveryCrash) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    test::SplitMix random(seed);
    const auto draw = [&](std::uint64_t, std::uint64_t bound) { return random.next() % bound; };
    disk_.format();
    const auto inode = make("/log", "");
    disk_.sync_directory("/");
    std::string written;
    std::size_t synced = 0;
    for (std::uint64_t step = 0; step < 10; ++step) {
      const std::string entry(1 + draw(0, 9), static_cast<char>('a' + step));
      write(inode, entry, written.size());
      written += entry;
      if (draw(0, 3) == 0) {
        disk_.sync(inode);
        synced = written.size();
      }
      if (draw(0, 4) == 0) make("/other" + std::to_string(step), "x");
    }
    disk_.crash(draw);
    const std::string left = contents("/log");
    ASSERT_GE(left.size(), synced) << "seed " << seed;
    ASSERT_LE(left.size(), written.size()) << "seed " << seed;
    ASSERT_EQ(left.substr(0, synced), written.substr(0, synced)) << "seed " << seed;
    for (std::size_t i = synced; i < left.size(); ++i) {
      ASSERT_TRUE(left[i] == written[i] || left[i] == '\0') << "seed " << seed << " byte " << i;
    }
  }
}

// --- links ---

TEST_F(DiskTest, FollowsSymbolicLinks) {
  EXPECT_EQ(disk_.make_directory("d", 0755), 0);
  make("d/file", "x");
  EXPECT_EQ(disk_.make_link("d", "link"), 0);
  EXPECT_EQ(disk_.make_link("link/file", "other"), 0);
  EXPECT_EQ(contents("link/file"), "x");
  EXPECT_EQ(contents("other"), "x");
  EXPECT_EQ(disk_.make_link("d/none", "dangling"), 0);
  EXPECT_EQ(code_of_opening("dangling"), ENOENT);
  EXPECT_EQ(code_of_opening("dangling", OpenMode::creating()), EEXIST);
  make("dangling", "new");
  EXPECT_EQ(contents("d/none"), "new");
  EXPECT_EQ(disk_.make_link("b", "a"), 0);
  EXPECT_EQ(disk_.make_link("a", "b"), 0);
  EXPECT_EQ(code_of_opening("a"), ELOOP);
  EXPECT_EQ(code_of_opening("other/"), ENOTDIR);
}

TEST_F(DiskTest, RenamesAndRemovesLinksThemselves) {
  make("file", "x");
  EXPECT_EQ(disk_.make_link("file", "a"), 0);
  EXPECT_EQ(disk_.rename("a", "b"), 0);
  EXPECT_EQ(contents("b"), "x");
  EXPECT_EQ(disk_.remove("b"), 0);
  EXPECT_EQ(contents("file"), "x");
}

TEST_F(DiskTest, AFileHasSeveralNames) {
  const Disk::Inode inode = make("a", "x");
  disk_.release(inode);
  EXPECT_EQ(disk_.link(inode, "b"), 0);
  EXPECT_EQ(disk_.link(inode, "b"), EEXIST);
  EXPECT_EQ(disk_.attributes(inode).links, 2u);
  FileStatus status;
  EXPECT_EQ(disk_.status("b", status), 0);
  EXPECT_EQ(status.links, 2u);
  EXPECT_EQ(disk_.remove("a"), 0);
  EXPECT_EQ(contents("b"), "x");
  EXPECT_EQ(disk_.attributes(inode).links, 1u);
  EXPECT_EQ(disk_.remove("b"), 0);
  EXPECT_EQ(disk_.room(), 1000u);
}

TEST_F(DiskTest, ALinkIsDurableWithItsDirectory) {
  const Disk::Inode inode = make("a", "x");
  EXPECT_EQ(disk_.sync_directory("."), 0);
  EXPECT_EQ(disk_.link(inode, "b"), 0);
  disk_.crash(lose_all);
  EXPECT_EQ(contents("a"), "x");
  EXPECT_EQ(contents("b"), "-");
  EXPECT_EQ(disk_.attributes(inode).links, 1u);
  EXPECT_EQ(disk_.link(inode, "b"), 0);
  EXPECT_EQ(disk_.sync_directory("."), 0);
  disk_.crash(lose_all);
  EXPECT_EQ(contents("b"), "x");
  EXPECT_EQ(disk_.attributes(inode).links, 2u);
}

TEST_F(DiskTest, NothingIsMadeInARemovedDirectory) {
  EXPECT_EQ(disk_.make_directory("d", 0755), 0);
  Disk::Inode directory = 0;
  EXPECT_EQ(disk_.find("d", directory), 0);
  EXPECT_EQ(disk_.remove_directory("d"), 0);
  Disk::Inode opened = 0;
  EXPECT_EQ(disk_.open({"file", directory}, OpenMode::creating(), opened), ENOENT);
  EXPECT_EQ(disk_.make_directory({"d", directory}, 0755), ENOENT);
}

}  // namespace
}  // namespace fermata::sim
