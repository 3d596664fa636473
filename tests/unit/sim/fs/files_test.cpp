// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/files.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::only;

/// The code of what `operation` throws; 0 when it throws nothing.
template <class Operation>
int code_of(Operation operation) {
  try {
    operation();
  } catch (const InputOutputError& error) {
    return error.code();
  }
  return 0;
}

class SimFilesTest : public test::OneWorldFixture {
 protected:
  SimFilesTest() {
    options_.full_audit = true;
    learns_ = true;
  }

  /// How many of `seeds` runs of `main` met `fault`.
  std::uint64_t runs_with(Fault fault, std::uint64_t seeds, const std::function<void()>& main) {
    std::uint64_t hits = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      run(only(fault), seed, main);
      hits += count(fault) > 0 ? 1 : 0;
    }
    return hits;
  }
};

TEST_F(SimFilesTest, BeginEachRunWithAnEmptyDisk) {
  for (int i = 0; i < 2; ++i) {
    run([] {
      EXPECT_TRUE(fs::list_directory("/").empty());
      fs::write_file("/left", "behind");
    });
  }
}

TEST_F(SimFilesTest, BelongToOneMachine) {
  decisions_.begin(1);
  world_.reset({.faults = FaultSet::none()});
  for (const char* name : {"one", "two"}) {
    world_.node(name, [name] {
      fs::write_file("/name", name);
      delay(1s);
      EXPECT_EQ(fs::read_file("/name"), name);
    });
  }
  world_.run();
  EXPECT_FALSE(world_.failure());
}

MAIN_TEST_F(SimFilesTest, TakeVirtualTime) {
  const Instant before = now();
  fs::write_file("/f", "x");
  const Duration taken = now() - before;
  EXPECT_GE(taken, 40us);
  EXPECT_LT(taken, 10ms);
}

TEST_F(SimFilesTest, AreSometimesSlow) {
  Duration longest{};
  const std::uint64_t hits = runs_with(Fault::SlowDisk, 200, [&] {
    for (int i = 0; i < 10; ++i) {
      const Instant before = now();
      fs::write_file("/f", "x");
      longest = std::max(longest, now() - before);
    }
  });
  EXPECT_GT(hits, 20u);
  EXPECT_GT(longest, 100ms);
  EXPECT_LT(longest, 10s);
}

TEST_F(SimFilesTest, ReadInPieces) {
  std::uint64_t shorter = 0;
  const std::uint64_t hits = runs_with(Fault::ShortRead, 100, [&] {
    fs::write_file("/f", "0123456789");
    File file = File::open("/f");
    std::byte buffer[10];
    const std::size_t size = file.read(buffer);
    EXPECT_GE(size, 1u);
    shorter += size < 10 ? 1 : 0;
    EXPECT_EQ(fs::read_file("/f"), "0123456789");
  });
  EXPECT_GT(hits, 10u);
  EXPECT_GT(shorter, 5u);
}

TEST_F(SimFilesTest, WriteInPiecesThatNothingComesBetween) {
  FERMATA_CHECKS("IO-10", "IO-03");
  const std::uint64_t hits = runs_with(Fault::ShortWrite, 200, [&] {
    File file = File::open("/f", OpenMode::appending());
    std::vector<Coroutine<>> writers;
    for (const char* text : {"aaaaaaaa", "bbbbbbbb", "cccccccc"}) {
      writers.push_back(spawn("writer", [&file, text] { file.write(text); }));
    }
    for (const auto& writer : writers) await(writer);
    const std::string all = fs::read_file("/f");
    EXPECT_EQ(all.size(), 24u);
    for (std::size_t i = 0; i < all.size(); i += 8)
      EXPECT_EQ(all.substr(i, 8), std::string(8, all[i]));
  });
  EXPECT_GT(hits, 20u);
}

TEST_F(SimFilesTest, RunOutOfSpace) {
  std::uint64_t writes = 0;
  std::uint64_t creations = 0;
  const std::uint64_t hits = runs_with(Fault::DiskFull, 200, [&] {
    for (int i = 0; i < 5; ++i) {
      const int created = code_of([] { fs::write_file("/f", ""); });
      EXPECT_TRUE(created == 0 || created == ENOSPC) << created;
      creations += created != 0 ? 1 : 0;
      if (created != 0) continue;
      const int written = code_of([] { fs::write_file("/f", "contents"); });
      EXPECT_TRUE(written == 0 || written == ENOSPC) << written;
      EXPECT_EQ(fs::read_file("/f"), written == 0 ? "contents" : "");
      writes += written != 0 ? 1 : 0;
      fs::remove("/f");
    }
  });
  EXPECT_GT(hits, 20u);
  EXPECT_GT(writes, 20u);
  EXPECT_GT(creations, 20u);
}

TEST_F(SimFilesTest, FindNoSpaceForAnotherName) {
  std::uint64_t refused = 0;
  runs_with(Fault::DiskFull, 400, [&] {
    if (code_of([] { fs::write_file("/f", ""); }) != 0) return;
    const int code = code_of([] { fs::link("/f", "/g"); });
    EXPECT_TRUE(code == 0 || code == ENOSPC) << code;
    EXPECT_EQ(fs::status("/f").links, code == 0 ? 2u : 1u);
    refused += code != 0 ? 1 : 0;
    if (code != 0) return;
    EXPECT_EQ(code_of([] { fs::link("/f", "/g"); }), EEXIST);
  });
  EXPECT_GT(refused, 5u);
}

// The file is durable, and its second name may not be.
TEST_F(SimFilesTest, LoseALinkWhoseDirectoryWasNotSynced) {
  std::uint64_t lost = 0;
  std::uint64_t kept = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    decisions_.begin(seed);
    world_.reset({.faults = FaultSet::none()});
    const bool synced = seed % 2 == 0;
    int life = 0;
    Node& machine = world_.node("machine", [&, synced] {
      if (++life == 2) {
        const bool is_there = code_of([] { static_cast<void>(fs::status("/b")); }) == 0;
        EXPECT_EQ(fs::status("/a").links, is_there ? 2u : 1u);
        EXPECT_TRUE(is_there || !synced);
        (is_there ? kept : lost) += 1;
        return;
      }
      File file = File::open("/a", OpenMode::creating());
      file.sync();
      fs::sync_directory("/");
      fs::link("/a", "/b");
      if (synced) fs::sync_directory("/");
      delay(1h);
    });
    world_.at(1s, [&] {
      machine.crash();
      machine.restart();
    });
    world_.run();
    EXPECT_FALSE(world_.failure());
  }
  EXPECT_GT(lost, 10u);
  EXPECT_GT(kept, 60u);
}

TEST_F(SimFilesTest, Fail) {
  std::uint64_t failures[3] = {};
  const std::uint64_t hits = runs_with(Fault::DiskError, 200, [&] {
    File file = File::open("/f", OpenMode::creating());
    const int codes[] = {
        code_of([&] { file.write("x"); }),
        code_of([&] { file.sync(); }),
        code_of([&] {
          std::byte byte;
          file.read_at(0, {&byte, 1});
        }),
    };
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(codes[i] == 0 || codes[i] == EIO) << codes[i];
      failures[i] += codes[i] != 0 ? 1 : 0;
    }
  });
  EXPECT_GT(hits, 20u);
  for (const std::uint64_t each : failures) EXPECT_GT(each, 10u);
}

TEST_F(SimFilesTest, TellNobodyOfWhatWasAbandoned) {
  FERMATA_CHECKS("IO-07", "IO-08", "CLOSE-10");
  std::uint64_t withdrawn = 0;
  constexpr std::uint64_t kRuns = 200;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    run(FaultSet::none(), seed, [&] {
      File file = File::open("/f", OpenMode::creating());
      EXPECT_THROW(file.write("abc", {.timeout = 0ns}), Timeout);
      std::byte byte{};
      EXPECT_THROW(file.read({&byte, 1}, {.timeout = 0ns}), Timeout);
      const std::uint64_t size = file.size();
      EXPECT_TRUE(size == 0 || size == 3) << size;
      withdrawn += size == 0 ? 1 : 0;
      EXPECT_EQ(byte, std::byte{});
    });
  }
  EXPECT_GT(withdrawn, kRuns / 4);
  EXPECT_LT(withdrawn, kRuns * 3 / 4);
}

TEST_F(SimFilesTest, StayWholeHoweverTheirUsersAreInterrupted) {
  FERMATA_CHECKS("IO-01", "IO-05", "IO-07", "IO-10", "CLOSE-10");
  constexpr WaitOptions kPatient{.timeout = 1s};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run(only(Fault::ShortWrite), seed, [&] {
      const auto counts = world_.sweep_cancellation(
          [&] {
            const auto log =
                std::make_shared<File>(File::open("/log", OpenMode::appending(), kPatient));
            std::vector<Coroutine<>> writers;
            for (const char* text : {"aaaa", "bbbb"}) {
              writers.push_back(spawn("writer", [kPatient, log, text] {
                log->write(text, kPatient);
                log->write(text, kPatient);
                log->sync(SyncMode::All, kPatient);
              }));
            }
            when_all_settled(writers);
            fs::rename("/log", "/old", kPatient);
          },
          {.then =
               [] {
                 while (current_runtime().reactor().files().in_flight() > 0) delay(1ms);
                 File::open("/log", OpenMode::appending()).write("cccc");
               },
           .check =
               [] {
                 for (const char* path : {"/log", "/old"}) {
                   if (code_of([&] { static_cast<void>(fs::status(path)); }) != 0) continue;
                   const std::string all = fs::read_file(path);
                   EXPECT_EQ(all.size() % 4, 0u);
                   for (std::size_t i = 0; i < all.size(); i += 4) {
                     EXPECT_EQ(all.substr(i, 4), std::string(4, all[i]));
                   }
                   fs::remove(path);
                 }
               }});
      EXPECT_GT(counts.cancellations, 8u);
      EXPECT_EQ(counts.timeouts, 8u);
    });
  }
}

TEST_F(SimFilesTest, FinishAWriteThatHasBegunWhenTheyAreClosed) {
  FERMATA_CHECKS("CLOSE-10");
  std::size_t written = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    run(only(Fault::ShortWrite), seed, [&] {
      auto log = std::make_shared<File>(File::open("/log", OpenMode::appending()));
      const auto writer = spawn("writer", [log] {
        try {
          log->write("abcdefgh");
        } catch (const InputOutputError&) {
        }
      });
      delay(random(400) * 1us);
      log->close();
      await(writer);
      while (current_runtime().reactor().files().in_flight() > 0) delay(1ms);
      const std::string all = fs::read_file("/log");
      EXPECT_TRUE(all.empty() || all == "abcdefgh") << all;
      written += all.empty() ? 0 : 1;
    });
  }
  EXPECT_GT(written, 5u);
}

TEST_F(SimFilesTest, LeaveTheOrderOfConcurrentOperationsOpen) {
  std::uint64_t renamed_first = 0;
  constexpr std::uint64_t kRuns = 100;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    run(FaultSet::none(), seed, [&] {
      fs::write_file("/a", "x");
      auto renaming = spawn("rename", [] { fs::rename("/a", "/b"); });
      auto looking = spawn("look", [&] {
        renamed_first += code_of([] { static_cast<void>(fs::status("/a")); }) == ENOENT ? 1 : 0;
      });
      await(renaming);
      await(looking);
    });
  }
  EXPECT_GT(renamed_first, kRuns / 10);
  EXPECT_LT(renamed_first, kRuns * 9 / 10);
}

TEST_F(SimFilesTest, AreTheSameInTheSameRun) {
  const auto history = [&](std::uint64_t seed) {
    std::string text;
    run(FaultSet::all(), seed, [&] {
      for (int i = 0; i < 20; ++i) {
        const std::string path = "/f" + std::to_string(i % 3);
        const int code = code_of([&] {
          File file = File::open(path, OpenMode::updating());
          file.write("0123456789");
          file.sync();
          text += std::to_string(fs::read_file(path).size());
        });
        text += " " + std::to_string(code) + "@" + std::to_string(now().nanoseconds) + "\n";
      }
    });
    return text;
  };
  std::uint64_t differing = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string first = history(seed);
    const std::uint64_t hash = world_.trace_hash();
    EXPECT_EQ(history(seed), first);
    EXPECT_EQ(world_.trace_hash(), hash);
    differing += history(seed + 1) != first ? 1 : 0;
  }
  EXPECT_GT(differing, 40u);
}

}  // namespace
}  // namespace fermata::sim
