// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/shared_disk.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::only;

int code_of_call(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputOutputError& error) {
    return error.code();
  }
  return 0;
}

class SharedFolder : public test::OneWorldFixture {
 protected:
  /// A run of two machines with a folder that they share; the second begins later.
  void run_two(FaultSet faults, std::uint64_t seed, std::function<void()> first,
               std::function<void()> second) {
    begin(faults, seed);
    world_.share_folder("/plan");
    world_.node("first", std::move(first));
    world_.node("second", [second = std::move(second)] {
      delay(1s);
      second();
    });
    finish();
  }
};

TEST_F(SharedFolder, ShowsAllMachinesTheSameFiles) {
  run_two(
      FaultSet::none(), 1,
      [] {
        fs::write_file("/plan/letter", "dear");
        fs::make_directory("/plan/box");
        fs::link("/plan/letter", "/plan/box/copy");
        fs::write_file("own", "mine");
      },
      [] {
        EXPECT_EQ(fs::read_file("/plan/letter"), "dear");
        EXPECT_EQ(fs::status("/plan/box/copy").links, 2u);
        EXPECT_EQ(fs::list_directory("/plan").size(), 2u);
        EXPECT_EQ(code_of_call([] { (void)fs::status("own"); }), ENOENT);
      });
}

TEST_F(SharedFolder, IsEmptyInEachRun) {
  for (int i = 0; i < 2; ++i) {
    run_two(
        FaultSet::none(), 1, [] { fs::write_file("/plan/letter", "dear"); }, [] {});
    begin();
    world_.share_folder("/plan");
    world_.node("alone", [] { EXPECT_TRUE(fs::list_directory("/plan").empty()); });
    finish();
  }
}

TEST_F(SharedFolder, IsAnotherFileSystem) {
  begin();
  world_.share_folder("/plan");
  world_.node("main", [] {
    fs::write_file("own", "mine");
    EXPECT_EQ(code_of_call([] { fs::rename("own", "/plan/own"); }), EXDEV);
    EXPECT_EQ(code_of_call([] { fs::link("own", "/plan/own"); }), EXDEV);
    EXPECT_EQ(code_of_call([] { (void)fs::status("/planet"); }), ENOENT);
  });
  finish();
}

TEST_F(SharedFolder, KeepsWhatAMachineWroteThatCrashes) {
  begin();
  world_.share_folder("/plan");
  Node& writer = world_.node("writer", [] {
    if (fs::list_directory("/plan").empty()) fs::write_file("/plan/letter", "dear");
    delay(1s);
  });
  world_.at(500ms, [&] {
    writer.crash();
    writer.restart();
  });
  world_.node("reader", [] {
    delay(3s);
    EXPECT_EQ(fs::read_file("/plan/letter"), "dear");
  });
  finish();
}

TEST_F(SharedFolder, LosesWithItsServerWhatNobodySynced) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(FaultSet::none(), seed);
    world_.share_folder("/plan");
    world_.node("main", [&] {
      {
        File kept = File::open("/plan/kept", OpenMode::writing());
        kept.write("safe");
        kept.sync();
        fs::sync_directory("/plan");
      }
      fs::write_file("/plan/doubtful", "gone?");
      std::optional<File> open = File::open("/plan/kept");
      world_.at(1ms, [&] { world_.crash_folder("/plan"); });
      delay(2ms);
      EXPECT_EQ(fs::read_file("/plan/kept"), "safe");
      EXPECT_EQ(code_of_call([&] { (void)open->status(); }), ESTALE);
      lost += code_of_call([] { (void)fs::status("/plan/doubtful"); }) == ENOENT;
    });
    finish();
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 20);
}

TEST_F(SharedFolder, ALostReplyMakesACallThatWasDoneFail) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    begin(only(Fault::LostReply), seed);
    world_.share_folder("/plan");
    world_.node("main", [&] {
      fs::write_file("/plan/file", "");
      const int code = code_of_call([] { fs::link("/plan/file", "/plan/name"); });
      EXPECT_TRUE(code == 0 || code == EEXIST) << code;
      EXPECT_EQ(fs::status("/plan/file").links, 2u);
      lost += code != 0;
      const int moved = code_of_call([] { fs::rename("/plan/name", "/plan/other"); });
      EXPECT_TRUE(moved == 0 || moved == ENOENT) << moved;
      EXPECT_EQ(fs::status("/plan/other").links, 2u);
      const int removed = code_of_call([] { fs::remove("/plan/other"); });
      EXPECT_TRUE(removed == 0 || removed == ENOENT) << removed;
      EXPECT_EQ(fs::status("/plan/file").links, 1u);
      fs::write_file("own", "");
      fs::link("own", "own too");
    });
    finish();
  }
  EXPECT_GT(lost, 0);
}

TEST_F(SharedFolder, AListingMayBeOldAndAnOpenFileStale) {
  int old = 0;
  int stale = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    run_two(
        only(Fault::StaleFolder), seed,
        [] {
          fs::write_file("/plan/first", "1");
          delay(1s + 500ms);
          fs::write_file("/plan/second", "2");
          fs::remove("/plan/first");
        },
        [&] {
          EXPECT_EQ(fs::list_directory("/plan").size(), 1u);
          File file = File::open("/plan/first");
          delay(1s);
          const auto entries = fs::list_directory("/plan");
          ASSERT_EQ(entries.size(), 1u);
          old += entries.front().name == "first";
          stale += code_of_call([&] { (void)file.status(); }) == ESTALE;
          delay(4s);
          EXPECT_EQ(fs::list_directory("/plan").front().name, "second");
        });
  }
  EXPECT_GT(old, 0);
  EXPECT_GT(stale, 0);
}

TEST_F(SharedFolder, GivesTheTimesOfItsServer) {
  WallTime first;
  begin(only(Fault::Clock), 3);
  world_.share_folder("/plan");
  for (const char* name : {"one", "other"}) {
    world_.node(name, [&first, name] {
      const std::string path = std::string("/plan/") + name;
      fs::write_file(path, "");
      const WallTime written = fs::status(path).modified;
      if (first.nanoseconds == 0) first = written;
      EXPECT_LT(std::abs(written.nanoseconds - first.nanoseconds), 1'000'000'000);
    });
  }
  finish();
}

TEST_F(SharedFolder, RefusesPathsThatMakeNoSense) {
  begin();
  world_.share_folder("/plan");
  EXPECT_EQ(error_of([&] { world_.share_folder("plan"); }),
            "share folder: 'plan': expected an absolute path without a slash at its end, such as "
            "/plan");
  EXPECT_EQ(error_of([&] { world_.share_folder("/plan/inner"); }),
            "share folder: '/plan/inner' and '/plan' are one inside of the other: expected "
            "folders apart");
  EXPECT_EQ(error_of([&] { world_.crash_folder("/other"); }),
            "crash folder: no folder '/other' is shared");
}

}  // namespace
}  // namespace fermata::sim
