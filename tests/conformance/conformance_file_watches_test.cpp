// SPDX-License-Identifier: Apache-2.0

// What a program may rely on: which names are told, not how often, nor when.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/file_watcher.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/scratch_folder.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

/// With a folder in it, which is not the root of a disk.
class WatchedFolder : public Folder {
 public:
  using Folder::Folder;

 protected:
  [[nodiscard]] std::string folder() const { return path("watched"); }
  [[nodiscard]] std::string in_folder(const std::string& name) const {
    return folder() + "/" + name;
  }
  void make_folder() const { fs::make_directory(folder()); }
};

template <class Arm>
class FileWatches : public ::testing::Test {};
TYPED_TEST_SUITE(FileWatches, OrderedArms);

/// What is told until `name` is, that included.
std::vector<FileEvent> events_until(FileWatcher& watcher, const std::string& name) {
  std::vector<FileEvent> events;
  while (events.empty() || events.back().name != name) {
    auto event = watcher.next({.timeout = 20s});
    if (!event) {
      ADD_FAILURE() << "the watch has ended before " << name;
      break;
    }
    events.push_back(std::move(*event));
  }
  return events;
}

/// All that is left when it has ended.
std::vector<FileEvent> rest(FileWatcher& watcher) {
  std::vector<FileEvent> events;
  while (auto event = watcher.next({.timeout = 20s})) events.push_back(std::move(*event));
  return events;
}

std::size_t count(const std::vector<FileEvent>& events, const std::string& name) {
  return static_cast<std::size_t>(std::count_if(
      events.begin(), events.end(), [&](const FileEvent& each) { return each.name == name; }));
}

FileChange changes_of(const std::vector<FileEvent>& events, const std::string& name) {
  FileChange change = FileChange::None;
  for (const FileEvent& event : events) {
    if (event.name == name) change |= event.change;
  }
  return change;
}

/// What was done before has been told, as far as the system is concerned.
void settle() { delay(50ms); }

// --- what is told ---

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, TellWhatIsDoneToAFile) {
  make_folder();
  FileWatcher watcher(folder());
  File file = File::open(in_folder("note"), OpenMode::creating());
  EXPECT_TRUE(any(changes_of(events_until(watcher, "note"), "note") & FileChange::Rename));
  file.write("do re mi");
  EXPECT_EQ(changes_of(events_until(watcher, "note"), "note"), FileChange::Change);
  file.truncate(2);
  EXPECT_EQ(changes_of(events_until(watcher, "note"), "note"), FileChange::Change);
  file.close();
  fs::rename(in_folder("note"), in_folder("tone"));
  const auto renamed = events_until(watcher, "tone");
  EXPECT_EQ(changes_of(renamed, "note"), FileChange::Rename);
  EXPECT_EQ(changes_of(renamed, "tone"), FileChange::Rename);
  fs::remove(in_folder("tone"));
  EXPECT_TRUE(any(changes_of(events_until(watcher, "tone"), "tone") & FileChange::Rename));
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, TellNothingOfReadsAndSyncs) {
  make_folder();
  fs::write_file(in_folder("read"), "me");
  FileWatcher watcher(folder());
  EXPECT_EQ(fs::read_file(in_folder("read")), "me");
  File::open(in_folder("read")).sync();
  fs::sync_directory(folder());
  fs::write_file(in_folder("written"), "");
  EXPECT_EQ(count(events_until(watcher, "written"), "read"), 0u);
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, TellDirectoriesToo) {
  make_folder();
  FileWatcher watcher(folder());
  fs::make_directory(in_folder("sub"));
  EXPECT_EQ(events_until(watcher, "sub").back().change, FileChange::Rename);
  fs::write_file(in_folder("sub/unseen"), "x");
  fs::remove(in_folder("sub/unseen"));
  fs::remove_directory(in_folder("sub"));
  EXPECT_EQ(events_until(watcher, "sub").size(), 1u);
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, WatchASingleFile) {
  make_folder();
  fs::write_file(in_folder("one"), "x");
  FileWatcher watcher(in_folder("one"));
  fs::write_file(in_folder("other"), "x");
  File file = File::open(in_folder("one"), OpenMode::updating());
  file.write("yz");
  EXPECT_EQ(watcher.next(), (FileEvent{FileChange::Change, "one"}));
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, AFileIsNoDirectory) {
  make_folder();
  fs::write_file(in_folder("one"), "x");
  EXPECT_THROW(FileWatcher{in_folder("one/")}, InputOutputError);
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, TellEverybodyWhoWatches) {
  make_folder();
  FileWatcher first(folder());
  FileWatcher second(folder());
  fs::write_file(in_folder("a"), "");
  events_until(first, "a");
  first.close();
  fs::write_file(in_folder("b"), "");
  EXPECT_EQ(events_until(second, "b").front().name, "a");
  EXPECT_EQ(count(rest(first), "b"), 0u);
}

// --- recursion ---

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, SeeWhatIsBelow) {
  make_folder();
  fs::make_directory(in_folder("a"));
  fs::make_directory(in_folder("a/b"));
  fs::write_file(in_folder("a/b/old"), "x");
  FileWatcher watcher(folder(), {.recursive = true});
  EXPECT_EQ(watcher.handle().places(), 3u);
  fs::write_file(in_folder("a/b/new"), "x");
  const auto events = events_until(watcher, "a/b/new");
  EXPECT_EQ(count(events, "a/b/old"), 0u);
  EXPECT_TRUE(any(events.back().change & FileChange::Rename));
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, SeeDirectoriesThatCameLater) {
  FERMATA_CHECKS("FS-05");
  make_folder();
  FileWatcher watcher(folder(), {.recursive = true});
  fs::make_directory(in_folder("new"));
  fs::make_directory(in_folder("new/newer"));
  fs::write_file(in_folder("new/newer/note"), "x");
  events_until(watcher, "new/newer/note");
  settle();
  EXPECT_EQ(watcher.handle().places(), 3u);
  fs::write_file(in_folder("new/second"), "x");
  events_until(watcher, "new/second");
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, SeeWhatMovesInWithADirectory) {
  FERMATA_CHECKS("FS-05");
  make_folder();
  fs::make_directory(path("outside"));
  fs::make_directory(path("outside/deep"));
  fs::write_file(path("outside/deep/note"), "x");
  FileWatcher watcher(folder(), {.recursive = true});
  fs::rename(path("outside"), in_folder("inside"));
  events_until(watcher, "inside/deep/note");
  fs::rename(in_folder("inside"), in_folder("again"));
  events_until(watcher, "again/deep/note");
  fs::write_file(in_folder("again/deep/later"), "x");
  const auto events = events_until(watcher, "again/deep/later");
  EXPECT_EQ(count(events, "inside/deep/later"), 0u);
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, LetGoOfWhatIsRemoved) {
  make_folder();
  fs::make_directory(in_folder("a"));
  fs::make_directory(in_folder("a/b"));
  FileWatcher watcher(folder(), {.recursive = true});
  fs::rename(in_folder("a"), path("elsewhere"));
  events_until(watcher, "a");
  settle();
  EXPECT_EQ(watcher.handle().places(), 1u);
  fs::write_file(path("elsewhere/b/note"), "x");
  fs::write_file(in_folder("end"), "x");
  EXPECT_EQ(count(events_until(watcher, "end"), "a/b/note"), 0u);
}

// --- buffering ---

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, KeepWhatNobodyAskedForYet) {
  FERMATA_CHECKS("FS-01");
  make_folder();
  FileWatcher watcher(folder());
  fs::write_file(in_folder("a"), "x");
  settle();
  fs::write_file(in_folder("b"), "x");
  const auto events = events_until(watcher, "b");
  EXPECT_EQ(count(events, "a"), 1u);
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, MakeOneEventOfOneName) {
  FERMATA_CHECKS("FS-02");
  make_folder();
  FileWatcher watcher(folder());
  for (int i = 0; i < 3; ++i) {
    fs::write_file(in_folder("a"), "x");
    fs::write_file(in_folder("b"), "x");
  }
  fs::write_file(in_folder("end"), "");
  settle();
  EXPECT_EQ(watcher.next(), (FileEvent{FileChange::Rename | FileChange::Change, "a"}));
  EXPECT_EQ(watcher.next(), (FileEvent{FileChange::Rename | FileChange::Change, "b"}));
  EXPECT_EQ(watcher.next()->name, "end");
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, GiveEachEventWhenAskedTo) {
  make_folder();
  FileWatcher watcher(folder(), {.coalesce = false});
  fs::write_file(in_folder("a"), "x");
  fs::remove(in_folder("a"));
  fs::write_file(in_folder("end"), "");
  const auto events = events_until(watcher, "end");
  EXPECT_GE(count(events, "a"), 3u);
  EXPECT_EQ(events.front(), (FileEvent{FileChange::Rename, "a"}));
  EXPECT_EQ(events.at(1), (FileEvent{FileChange::Change, "a"}));
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, LeaveOutOtherExtensions) {
  FERMATA_CHECKS("FS-06");
  make_folder();
  FileWatcher watcher(folder(), {.recursive = true, .extensions = {".Conf", "ini"}});
  for (const char* name : {"a.txt", "conf", ".conf", "a.conf.old", "end.CONF"}) {
    fs::write_file(in_folder(name), "x");
  }
  EXPECT_EQ(events_until(watcher, "end.CONF").size(), 1u);
  fs::make_directory(in_folder("sub"));
  fs::write_file(in_folder("sub/x.ini"), "x");
  EXPECT_EQ(count(events_until(watcher, "sub/x.ini"), "sub"), 0u);
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, WaitUntilItIsQuiet) {
  FERMATA_CHECKS("FS-03");
  make_folder();
  FileWatcher watcher(folder(), {.debounce = 100ms});
  fs::write_file(in_folder("a"), "x");
  const Instant last = now();
  fs::remove(in_folder("a"));
  EXPECT_EQ(watcher.next(), (FileEvent{FileChange::Rename | FileChange::Change, ""}));
  EXPECT_GE(now() - last, 100ms);
  EXPECT_THROW(static_cast<void>(watcher.next({.timeout = 0ms})), Timeout);
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, DoNotWaitForEver) {
  FERMATA_CHECKS("FS-03");
  make_folder();
  FileWatcher watcher(folder(), {.debounce = 10s, .max_hold = 10s});
  FileWatcher impatient(folder(), {.debounce = 100ms, .max_hold = 200ms});
  auto writer = spawn("writer", [&] {
    for (int i = 0;; ++i) {
      fs::write_file(in_folder("a"), "x");
      delay(5ms);
    }
  });
  EXPECT_TRUE(impatient.next());
  writer.cancel();
  EXPECT_THROW(static_cast<void>(watcher.next({.timeout = 1ms})), Timeout);
  watcher.close();
  EXPECT_TRUE(watcher.next());  // What was held back.
  EXPECT_FALSE(watcher.next());
}

// --- ends ---

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, EndWhenTheyAreClosedAndEmpty) {
  FERMATA_CHECKS("FS-04");
  make_folder();
  FileWatcher watcher(folder());
  fs::write_file(in_folder("a"), "x");
  fs::write_file(in_folder("b"), "x");
  settle();
  watcher.close();
  watcher.close();
  EXPECT_FALSE(watcher.is_open());
  fs::write_file(in_folder("late"), "x");
  std::vector<std::string> names;
  for (const FileEvent& event : watcher) names.push_back(event.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(watcher.next());
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, EndForThoseWhoWait) {
  FERMATA_CHECKS("FS-04");
  make_folder();
  FileWatcher watcher(folder());
  auto waiting = spawn("waiting", [&] { return !watcher.next(); });
  delay(10ms);
  watcher.close();
  EXPECT_TRUE(await(waiting));
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, FailWhenTheRootIsGone) {
  make_folder();
  FileWatcher watcher(folder(), {.recursive = true});
  fs::write_file(in_folder("last"), "x");
  fs::remove(in_folder("last"));
  fs::remove_directory(folder());
  events_until(watcher, "last");
  const std::string error = "watch " + folder() + ": No such file or directory";
  EXPECT_EQ(error_of([&] { rest(watcher); }), error);
  EXPECT_EQ(error_of([&] { static_cast<void>(watcher.next()); }), error);
  watcher.close();
  EXPECT_FALSE(watcher.next());
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, FailWhenTheRootMoves) {
  make_folder();
  FileWatcher watcher(folder());
  auto waiting = spawn("waiting", [&] { return error_of([&] { rest(watcher); }); });
  delay(10ms);
  fs::rename(folder(), path("moved"));
  EXPECT_EQ(await(waiting), "watch " + folder() + ": No such file or directory");
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, LoseNothingToATimeout) {
  make_folder();
  FileWatcher watcher(folder());
  EXPECT_THROW(static_cast<void>(watcher.next({.timeout = 5ms})), Timeout);
  auto cancelled = spawn("cancelled", [&] { static_cast<void>(watcher.next()); });
  delay(5ms);
  cancelled.cancel();
  fs::write_file(in_folder("a"), "x");
  EXPECT_EQ(watcher.next()->name, "a");
}

MAIN_TYPED_TEST_WITH(WatchedFolder, FileWatches, RefuseWhatMakesNoSense) {
  make_folder();
  const auto error = [&](const FileWatcherOptions& options) {
    return error_of([&] { FileWatcher(folder(), options); });
  };
  EXPECT_EQ(error({.debounce = -1ms}), "watch: debounce of -1000000 ns: expected 0 or more");
  EXPECT_EQ(error({.max_hold = 1s}), "watch: max_hold without debounce: expected both, or none");
  EXPECT_EQ(error({.debounce = 2us, .max_hold = 1us}),
            "watch: max_hold of 1000 ns: expected at least the debounce, 2000 ns");
  for (const char* extension : {"", ".", "tar.gz", "a/b", "sixteen_letters_"}) {
    EXPECT_EQ(error({.extensions = {extension}}),
              std::string("watch: extension '") + extension +
                  "': expected 1 to 15 bytes, such as 'txt', without another dot");
  }
  EXPECT_EQ(error_of([] { FileWatcher(""); }), "watch: the path is empty: expected a name");
  EXPECT_EQ(error_of([] { FileWatcher(std::string_view("a\0b", 3)); }),
            "watch: path 'a': byte 1 is NUL: expected none");
  const std::string none = in_folder("none");
  EXPECT_EQ(error_of([&] { FileWatcher{none}; }), "watch " + none + ": No such file or directory");
}

}  // namespace
}  // namespace fermata::conformance
