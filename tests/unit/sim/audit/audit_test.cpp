// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sim/record/failure.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/waits/explain.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sim/world/world_access.hpp"
#include "fermata/sync/mutex.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

/// An event that code completes.
class Bell final : public Event {
 public:
  explicit Bell(Runtime& runtime) : Event(runtime, backend::EventKind::Plain) {}
  ~Bell() override { shut(); }
  void dispose() noexcept override {}
};

/// An event on the heap.
class HeapBell final : public Event {
 public:
  explicit HeapBell(Runtime& runtime) : Event(runtime, backend::EventKind::Plain) {}
};

class CheckTest : public ::testing::Test {
 protected:
  void run(const std::function<void()>& main, bool full_audit = false) {
    decisions_.begin(1);
    world_.reset({.faults = FaultSet::none(), .full_audit = full_audit});
    world_.node("main", main);
    world_.run();
  }

  /// Whether the last run has failed with a message that begins so and has `part`.
  ::testing::AssertionResult complains(std::string_view begin, std::string_view part = "") {
    const std::string said = world_.failure() ? world_.failure()->message : "nothing";
    const bool does = said.starts_with(begin) && said.find(part) != std::string::npos;
    return (does ? ::testing::AssertionSuccess() : ::testing::AssertionFailure()) << said;
  }

  std::unique_ptr<Strategy> strategy_ = make_strategy("fifo");
  Decisions decisions_{*strategy_};
  World world_{decisions_};
};

TEST_F(CheckTest, AMisuseThatAnExceptionHidesFailsTheRun) {
  run([] {
    Mutex mutex("ledger");
    const auto thief = spawn("thief", [&] {
      try {
        const Mutex::Guard guard(mutex);
        mutex.unlock();
        delay(1ms);
        throw Error("hides it");
      } catch (const Error&) {
      }
    });
    suspend();
    mutex.lock();
    try {
      wait(*thief);
    } catch (...) {
      mutex.unlock();
      throw;
    }
    mutex.unlock();
  });
  EXPECT_TRUE(complains("fermata::UsageError: Mutex 'ledger' created at ",
                        ": unlock by 'thief': expected its holder, 'main' since "));
}

TEST_F(CheckTest, NamesWhoFailedFirst) {
  run([] {
    spawn("first", [] {
      suspend();
      throw Error("of the first");
    });
    spawn("second", [] {
      try {
        delay(1h);
      } catch (const Cancellation&) {
        throw Error("of the second");
      }
    });
    delay(1h);
  });
  EXPECT_TRUE(complains("fermata::Error: of the second", "previous: fermata::Error: of the first"));
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->coroutine, "first");
}

TEST_F(CheckTest, AcceptsCorrectProgramsAtEveryStep) {
  run(
      [] {
        Bell bell(current_runtime());
        std::vector<Coroutine<>> all;
        for (int i = 0; i < 40; ++i) {
          all.push_back(spawn("worker", [&bell, i] {
            delay(std::chrono::microseconds(i % 7));
            if (i % 3 == 0) wait(bell);
            suspend();
          }));
        }
        delay(1ms);
        all[0].cancel();
        bell.notify({});
        for (const auto& each : all) {
          try {
            wait(*each);
          } catch (const Cancellation&) {
          }
        }
      },
      true);
  EXPECT_FALSE(world_.failure()) << world_.failure()->message;
}

TEST_F(CheckTest, HashesTheSameWithAndWithoutTheFullAudit) {
  const auto program = [] {
    auto sleeper = spawn([] { delay(3ms); });
    suspend();
    wait(*sleeper);
  };
  run(program);
  const std::uint64_t lean = world_.trace_hash();
  const std::uint64_t steps = world_.steps();
  run(program, true);
  EXPECT_EQ(world_.trace_hash(), lean);
  EXPECT_EQ(world_.steps(), steps);
}

TEST_F(CheckTest, RecordsTheHashAfterEachStep) {
  decisions_.begin(1);
  detail::WorldAccess harness(world_);
  harness.reset({}, {.record_steps = true});
  world_.node("main", [] { suspend(); });
  world_.run();
  EXPECT_EQ(harness.step_hashes().size(), world_.steps());
  EXPECT_GE(world_.steps(), 2u);
}

TEST_F(CheckTest, ExplainsAnOrphan) {
  run([] {
    auto& bell = *new HeapBell(current_runtime());
    current_coroutine().waker().resume_when(bell, backend::WakeRule::Resolve, true);
    current_runtime().scheduler().suspend(SourcePlace::current());
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Deadlock);
  EXPECT_NE(world_.failure()->explanation.find("orphan: nobody but its waiters refers to Event #"),
            std::string::npos)
      << world_.failure()->explanation;
}

TEST_F(CheckTest, ExplainsALostWakeUp) {
  run([] {
    Bell bell(current_runtime());
    auto ringer = spawn("ringer", [&] { bell.notify({}); });
    wait(*ringer);
    wait(bell);
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Deadlock);
  EXPECT_NE(world_.failure()->explanation.find("lost wake-up: nobody is left to fire Event #"),
            std::string::npos)
      << world_.failure()->explanation;
  EXPECT_NE(world_.failure()->explanation.find("suspended at"), std::string::npos);
}

TEST_F(CheckTest, ADeadlockEndsTheRunAtOnce) {
  run([] {
    Bell bell(current_runtime());
    delay(7ms);
    try {
      wait(bell);
    } catch (const Cancellation&) {
      delay(5ms);
    }
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Deadlock);
  EXPECT_EQ(world_.failure()->at, Instant{} + 7ms);
  EXPECT_EQ(world_.now(), Instant{} + 7ms);
}

TEST_F(CheckTest, UnwindsWhatUsesAStackBeforeTheStack) {
  run([] {
    std::vector<int> local(1, 7);
    Bell bell(current_runtime());
    const auto user = spawn("user", [&] {
      const struct Look {
        std::vector<int>& values;
        ~Look() { EXPECT_EQ(values.at(0), 7); }
      } look{local};
      wait(bell);
    });
    wait(*user);
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Deadlock);
}

}  // namespace
}  // namespace fermata::sim
