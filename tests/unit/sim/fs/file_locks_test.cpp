// SPDX-License-Identifier: Apache-2.0

// Locks of files in a world: crashes, faults, what a report says, and interruptions anywhere.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/sim/world/world_access.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

File open_ledger() { return File::open("ledger", OpenMode::updating()); }

class SimFileLocks : public test::OneWorldFixture {
 protected:
  SimFileLocks() { options_.full_audit = true; }
};

TEST_F(SimFileLocks, BelongToOneMachine) {
  begin();
  for (const char* name : {"one", "two"}) {
    world_.node(name, [] {
      File file = open_ledger();
      const FileLock lock = file.lock({.timeout = 1s});
      delay(10s);
    });
  }
  finish();
}

TEST_F(SimFileLocks, KeepOutWhateverElseRunsThere) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    int inside = 0;
    int entries = 0;
    run(FaultSet::all(), seed, [&] {
      const auto enter = [&] {
        for (int i = 0; i < 3; ++i) {
          try {
            File file = open_ledger();
            const FileLock lock = file.lock();
            EXPECT_EQ(++inside, 1);
            ++entries;
            delay(1ms);
            --inside;
          } catch (const InputOutputError&) {  // No room for another descriptor.
          }
        }
      };
      const auto first = spawn("first", enter);
      const auto second = spawn("second", enter);
      await(first);
      await(second);
    });
    EXPECT_EQ(inside, 0);
    EXPECT_GT(entries, 0);
  }
}

TEST_F(SimFileLocks, AreGoneAfterACrashOfTheMachine) {
  int lives = 0;
  begin();
  world_.node("main", [&] {
    ++lives;
    File file = open_ledger();
    const FileLock lock = file.lock({.timeout = 1s});
    File other = open_ledger();
    const auto waiter = spawn("waiter", [&] { static_cast<void>(other.lock()); });
    delay(lives == 1 ? 1h : 1ms);
    waiter.cancel();
  });
  world_.at(1s, [this] { world_.node("main").crash(); });
  world_.at(2s, [this] { world_.node("main").restart(); });
  world_.node("other", [] { delay(3s); });
  finish();
  EXPECT_EQ(lives, 2);
}

TEST_F(SimFileLocks, AThreadCompetesToo) {
  run([] {
    File file = open_ledger();
    std::optional<FileLock> lock = file.lock();
    auto thread = spawn_thread([] {
      File own = open_ledger();
      EXPECT_FALSE(own.try_lock());
      const FileLock got = own.lock();
      return (now() - Instant{}).count();
    });
    delay(1s);
    const Instant given_up = now();
    lock.reset();
    EXPECT_GE(await(thread), (given_up - Instant{}).count());
  });
}

TEST_F(SimFileLocks, TwoWhoWaitForEachOtherAreReportedAsACycle) {
  begin();
  detail::WorldAccess(world_).reset(options_, {.log_waits = true});
  world_.node("main", [] {
    File a = File::open("a", OpenMode::updating());
    File b = File::open("b", OpenMode::updating());
    const auto other = spawn("other", [&] {
      File own_b = File::open("b");
      File own_a = File::open("a");
      const FileLock lock = own_b.lock();
      delay(1s);
      const FileLock second = own_a.lock();
    });
    const FileLock lock = a.lock();
    delay(1s);
    const FileLock second = b.lock();
    await(other);
  });
  world_.run();
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->message, "stalled: no pending events, 2 coroutines blocked");
  const std::string& text = world_.failure()->explanation;
  EXPECT_NE(text.find("cycle: 'main' --lock 'b' (locked by 'other')--> 'other' "
                      "--lock 'a' (locked by 'main')--> 'main'"),
            std::string::npos)
      << text;
}

TEST_F(SimFileLocks, AnInterruptedOneLeavesNoneBehind) {
  FERMATA_CHECKS("CORE-WK-13");
  begin();
  SweepCounts counts;
  world_.node("main", [&] {
    int inside = 0;
    const auto enter = [&](const WaitOptions& options) {
      File file = open_ledger();
      const FileLock lock = file.lock(options);
      EXPECT_EQ(++inside, 1);
      struct Leave {
        int& inside;
        ~Leave() { --inside; }
      } const leave{inside};
      delay(1ms);
    };
    counts = world_.sweep_cancellation(
        [&] {
          const auto first = spawn("first", [&] { enter({.timeout = 30s}); });
          const auto second = spawn("second", [&] { enter({.timeout = 30s}); });
          await(first);
          await(second);
        },
        {.then = [&] {
          enter({.timeout = 30s});
          File file = open_ledger();
          EXPECT_TRUE(file.try_lock());
        }});
  });
  finish();
  EXPECT_GT(counts.cancellations, 4u);
  EXPECT_GT(counts.timeouts, 1u);
}

}  // namespace
}  // namespace fermata::sim
