// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/file_watches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/file_watcher.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::only;

class SimFileWatchesTest : public test::OneWorldFixture {
 protected:
  SimFileWatchesTest() {
    options_.full_audit = true;
    learns_ = true;
  }
};

/// All files below `directory`, without it.
void collect_files(const std::string& root, const std::string& directory,
                   std::set<std::string>& files) {
  std::vector<DirectoryEntry> entries;
  try {
    entries = fs::list_directory(root + directory);
  } catch (const InputOutputError&) {  // It has moved meanwhile, which is told.
  }
  for (const DirectoryEntry& entry : entries) {
    const std::string name = directory + "/" + entry.name;
    if (entry.type == FileType::Directory) {
      collect_files(root, name, files);
    } else {
      files.insert(name.substr(1));
    }
  }
}

std::set<std::string> files_below(const std::string& root) {
  std::set<std::string> files;
  collect_files(root, "", files);
  return files;
}

/// Makes and moves files and directories, a few of each.
void rummage(const std::string& root) {
  for (int step = 0; step < 12; ++step) {
    const auto name = [&] {
      std::string path = root;
      for (std::uint64_t depth = random(3) + 1; depth > 0; --depth) {
        path += "/" + std::string(1, static_cast<char>('a' + random(2)));
      }
      return path;
    };
    try {
      switch (random(4)) {
        case 0:
        case 1:
          fs::make_directory(name());
          break;
        case 2: {
          const std::string from = name();
          fs::rename(from, name());
          break;
        }
        default:
          fs::write_file(name() + ".txt", "x");
      }
    } catch (const InputOutputError&) {  // Not there, or already.
    }
  }
}

/// Who takes every event knows of every file, whenever directories were made or moved.
TEST_F(SimFileWatchesTest, EveryFileIsToldOrARescanIs) {
  FERMATA_CHECKS("FS-01", "FS-05");
  FaultSet faults = FaultSet::none();
  for (const Fault fault : {Fault::WatchDelay, Fault::WatchOverflow, Fault::SlowDisk,
                            Fault::SlowClose, Fault::TimerLate}) {
    faults.add(fault);
  }
  std::uint64_t overflows = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    run(faults, seed, [] {
      fs::make_directory("/r");
      FileWatcher watcher("/r", {.recursive = true});
      std::set<std::string> known;
      auto following = spawn("follow", [&] {
        for (const FileEvent& event : watcher) {
          if (event.name.empty()) known.merge(files_below("/r"));
          known.insert(event.name);
        }
      });
      auto first = spawn("first", [] { rummage("/r"); });
      auto second = spawn("second", [] { rummage("/r"); });
      await(first);
      await(second);
      delay(30s);
      for (const std::string& file : files_below("/r")) {
        EXPECT_TRUE(known.contains(file)) << file;
      }
      watcher.close();
      await(following);
    });
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    overflows += count(Fault::WatchOverflow);
  }
  EXPECT_GT(overflows, 0u);
}

// A directory that comes with others in it may be found in a list before its coming is told. Then
// it is watched anew, and what was found below it before is not watched meanwhile.
TEST_F(SimFileWatchesTest, WatchNothingBelowWhatTheyHaveLetGo) {
  FERMATA_CHECKS("FS-05");
  FaultSet faults = FaultSet::none();
  for (const Fault fault : {Fault::WatchDelay, Fault::SlowDisk}) faults.add(fault);
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    run(faults, seed, [] {
      for (const char* path : {"/w", "/o", "/o/d", "/o/d/b", "/o/d/b/a"}) {
        fs::make_directory(path);
      }
      FileWatcher watcher("/w", {.recursive = true});
      fs::make_directory("/w/p");
      fs::rename("/o/d", "/w/p/d");
      delay(std::chrono::microseconds(random(2'000)));
      fs::rename("/w/p/d/b/a", "/w/a");
      delay(30s);
      EXPECT_EQ(watcher.handle().places(), 5u);
    });
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST_F(SimFileWatchesTest, KeepTheOrderOfWhatHappened) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    run(only(Fault::WatchDelay), seed, [] {
      FileWatcher watcher("/", {.coalesce = false});
      for (int i = 0; i < 10; ++i) fs::make_directory("/" + std::to_string(i));
      for (int i = 0; i < 10; ++i) EXPECT_EQ(watcher.next()->name, std::to_string(i));
    });
  }
}

TEST_F(SimFileWatchesTest, AskForARescanWhenSomethingWasLost) {
  std::uint64_t hits = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    run(only(Fault::WatchOverflow), seed, [] {
      FileWatcher watcher("/", {.extensions = {"txt"}});
      fs::write_file("/a.txt", "x");
      delay(1s);
      watcher.close();
      std::set<std::string> told;
      for (const FileEvent& event : watcher) told.insert(event.name);
      EXPECT_TRUE(told.contains("a.txt") || told.contains(""));
    });
    hits += count(Fault::WatchOverflow) > 0 ? 1 : 0;
  }
  EXPECT_GT(hits, 0u);
}

TEST_F(SimFileWatchesTest, FindThatTheRootIsGoneWhenThatWasLost) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    run(only(Fault::WatchOverflow), seed, [] {
      fs::make_directory("/r");
      FileWatcher watcher("/r", {.recursive = true});
      fs::remove_directory("/r");
      EXPECT_THROW(while (watcher.next()) continue, InputOutputError);
    });
  }
}

/// Writes now and then, and checks when a watcher that holds back gives what it was told. Returns
/// how often it was because it had held back for too long.
int check_emissions(const FileWatcherOptions& options) {
  File file = File::open("/file", OpenMode::writing());
  FileWatcher watcher("/", options);
  std::vector<Instant> arrivals;
  const Subscription arriving = subscribe(
      watcher.handle(), [&](Event&, const Outcome&) { arrivals.push_back(fermata::now()); });
  int given_up = 0;
  auto reader = spawn("reader", [&] {
    while (const auto event = watcher.next()) {
      EXPECT_EQ(*event, rescan_event());
      const Instant quiet = arrivals.back() + *options.debounce;
      const Instant held = arrivals.front() + options.max_hold.value_or(1h);
      EXPECT_EQ(fermata::now(), std::min(quiet, held));
      given_up += held < quiet ? 1 : 0;
      arrivals.clear();
    }
  });
  for (int i = 0; i < 40; ++i) {
    file.write("x");
    delay(Duration(random(20'000'000)));
  }
  delay(1s);
  watcher.close();
  await(reader);
  EXPECT_TRUE(arrivals.empty());
  return given_up;
}

TEST_F(SimFileWatchesTest, HoldBackExactlyAsLongAsTheyShould) {
  FERMATA_CHECKS("FS-03");
  int given_up = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run(only(Fault::WatchDelay), seed,
        [&] { given_up += check_emissions({.debounce = 15ms, .max_hold = 35ms}); });
    run(FaultSet::none(), seed, [] { EXPECT_EQ(check_emissions({.debounce = 10ms}), 0); });
    run(FaultSet::none(), seed, [] { EXPECT_EQ(check_emissions({.debounce = 0ms}), 0); });
  }
  EXPECT_GT(given_up, 0);
}

/// The reactor waits for the closes of all its places, however late each comes.
TEST_F(SimFileWatchesTest, CloseWhenEachPlaceIsLetGo) {
  FERMATA_CHECKS("CLOSE-07");
  std::uint64_t slow = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    run(only(Fault::SlowClose), seed, [] {
      fs::make_directory("/a");
      fs::make_directory("/a/b");
      fs::make_directory("/c");
      {
        FileWatcher watcher("/", {.recursive = true});
        const auto keep = Ref<backend::FileWatch>::share(watcher.handle());
        EXPECT_EQ(keep->places(), 4u);
        EXPECT_EQ(keep->ref_count(), 2u);
        watcher.close();
        EXPECT_EQ(keep->places(), 0u);
        EXPECT_EQ(keep->ref_count(), 3u);  // The backend's, for all of them.
        delay(1s);
        EXPECT_EQ(keep->ref_count(), 2u);
      }
      FileWatcher again("/", {.recursive = true});
      fs::rename("/a", "/d");  // Drops some of them, and closes in their midst.
      delay(Duration(random(200'000)));
    });
    slow += count(Fault::SlowClose);
  }
  EXPECT_GT(slow, 0u);
}

TEST_F(SimFileWatchesTest, WatchNoMoreDirectoriesThanTheyMay) {
  options_.full_audit = false;
  run([] {
    for (std::size_t i = 1; i < backend::FileWatch::kPlacesMax; ++i) {
      fs::make_directory("/" + std::to_string(i));
    }
    FileWatcher watcher("/", {.recursive = true});
    EXPECT_EQ(watcher.handle().places(), backend::FileWatch::kPlacesMax);
    fs::make_directory("/one more");
    EXPECT_EQ(watcher.next()->name, "one more");
    try {
      static_cast<void>(watcher.next());
      ADD_FAILURE() << "expected an error";
    } catch (const InputOutputError& error) {
      EXPECT_STREQ(error.what(), "watch /: expected at most 8191 directories below it");
    }
    EXPECT_THROW(FileWatcher("/", {.recursive = true}), InputOutputError);
  });
}

TEST_F(SimFileWatchesTest, MayEndBeforeAnythingWasTold) {
  std::uint64_t delayed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run(only(Fault::WatchDelay), seed, [] {
      const FileWatcher watcher("/");
      for (const char* name : {"/a", "/b", "/c"}) fs::make_directory(name);
    });
    delayed += count(Fault::WatchDelay);
  }
  EXPECT_GT(delayed, 0u);
}

TEST_F(SimFileWatchesTest, EndWithTheMachine) {
  begin();
  int starts = 0;
  Node& node = world_.node("main", [&] {
    ++starts;
    FileWatcher watcher("/", {.recursive = true});
    fs::make_directory("/" + std::to_string(starts));
    EXPECT_EQ(watcher.next()->name, std::to_string(starts));
    if (starts == 1) static_cast<void>(watcher.next());
  });
  world_.at(1s, [&] {
    node.crash();
    node.restart();
  });
  finish();
  EXPECT_EQ(starts, 2);
}

}  // namespace
}  // namespace fermata::sim
