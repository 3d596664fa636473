// SPDX-License-Identifier: Apache-2.0

// Threads that have a runtime of their own, real and simulated.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/gate.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::thrown_by;

template <class Arm>
class ThreadsOf : public ::testing::Test {};
TYPED_TEST_SUITE(ThreadsOf, Arms);

MAIN_TYPED_TEST(ThreadsOf, RunATaskOnARuntimeOfTheirOwn) {
  const Runtime* const here = &current_runtime();
  const auto thread = spawn_thread([here] {
    EXPECT_NE(&current_runtime(), here);
    auto inner = spawn("inner", [] {
      delay(1ms);
      return 41;
    });
    return await(inner) + 1;
  });
  EXPECT_TRUE(thread.is_running());
  EXPECT_FALSE(thread.is_completed());
  EXPECT_EQ(await(thread), 42);
  EXPECT_TRUE(thread.is_completed());
  EXPECT_FALSE(thread.is_running());
  EXPECT_EQ(thread.stage(), backend::ThreadStage::Done);
}

MAIN_TYPED_TEST(ThreadsOf, TheOutcomeReachesEverybodyEarlyOrLate) {
  FERMATA_CHECKS("THR-05");
  const auto thread = spawn_thread([] { return std::string("once"); });
  const void* seen[2] = {};
  std::vector<Coroutine<void>> early;
  for (const void*& each : seen) {
    early.push_back(spawn("early", [&each, &thread] { each = &await(thread); }));
  }
  for (const auto& each : early) await(each);
  EXPECT_EQ(await(thread), "once");
  EXPECT_EQ(seen[0], &await(thread));
  EXPECT_EQ(seen[1], seen[0]);
  const auto failing = spawn_thread([] { throw std::runtime_error("disk on fire"); });
  EXPECT_THROW(await(failing), RemoteError);
  try {
    await(failing);
  } catch (const RemoteError& error) {
    EXPECT_EQ(error.type_name(), "std::runtime_error");
    EXPECT_EQ(error.text(), "disk on fire");
    EXPECT_THROW(std::rethrow_exception(error.original()), std::runtime_error);
  }
}

/// Tells where it is destroyed, and how often.
struct Counted {
  explicit Counted(std::shared_ptr<std::atomic<int>> c) : alive(std::move(c)) { ++*alive; }
  Counted(Counted&& other) noexcept : alive(other.alive) { ++*alive; }
  Counted(const Counted& other) noexcept : alive(other.alive) { ++*alive; }
  ~Counted() { --*alive; }
  std::shared_ptr<std::atomic<int>> alive;
};

TYPED_TEST(ThreadsOf, ADetachedOneRunsToItsEndAndItsResultIsFreedOnce) {
  FERMATA_CHECKS("THR-06", "THR-07");
  const auto alive = std::make_shared<std::atomic<int>>(0);
  std::atomic<int> ran = 0;
  TypeParam::run([&] {
    for (int i = 0; i < 8; ++i) {
      (void)spawn_thread([&ran, result = Counted(alive)]() mutable {
        ++ran;
        return std::move(result);
      });
      if (i % 2 == 0) suspend();
    }
  });
  EXPECT_EQ(ran.load(), 8) << "the run waits for its threads";
  EXPECT_EQ(alive->load(), 0);
}

MAIN_TYPED_TEST(ThreadsOf, ResultsThatCanOnlyBeMovedAre) {
  auto thread = spawn_thread([n = std::make_unique<int>(7)]() mutable { return std::move(n); });
  EXPECT_EQ(*await(std::move(thread)), 7);
}

MAIN_TYPED_TEST(ThreadsOf, CancelReachesTheirMainCoroutine) {
  std::atomic<bool> cleaned_up = false;
  Trigger begun;
  const auto thread = spawn_thread([&] {
    begun.fire();
    try {
      delay(1h);
    } catch (const Cancellation&) {
      cleaned_up = true;
      throw;
    }
  });
  begun.wait();
  EXPECT_EQ(thread.stage(), backend::ThreadStage::Running);
  thread.cancel();
  thread.cancel();
  EXPECT_THROW(await(thread), Cancellation);
  EXPECT_TRUE(thread.is_cancelled());
  EXPECT_TRUE(cleaned_up);
  thread.cancel();  // Nobody minds.
}

MAIN_TYPED_TEST(ThreadsOf, ACancelIsSeenBeforeTheTaskBeginsOrInIt) {
  const auto thread = spawn_thread([] { delay(1h); });
  thread.cancel();
  EXPECT_THROW(await(thread), Cancellation);
  EXPECT_TRUE(thread.is_cancelled());
}

MAIN_TYPED_TEST(ThreadsOf, TellTheirFinallyHandlersAtTheEnd) {
  std::vector<std::string> told;
  const auto thread = spawn_thread([] { delay(1ms); });
  thread.finally([&] {
    delay(1ms);  // It may suspend.
    told.emplace_back("first");
  });
  thread.finally([&] { told.emplace_back("second"); });
  EXPECT_TRUE(told.empty());
  await(thread);
  delay(5ms);
  EXPECT_EQ(told, (std::vector<std::string>{"second", "first"}));
  thread.finally([&] { told.emplace_back("late"); });
  EXPECT_EQ(told.back(), "late") << "at once";
}

MAIN_TYPED_TEST(ThreadsOf, ABootloaderRunsFirstAndMayFail) {
  std::atomic<int> order = 0;
  int boot = 0;
  const auto thread = spawn_thread([&] { return ++order; },
                                   {.name = "booted", .on_thread_start = [&] { boot = ++order; }});
  EXPECT_EQ(thread.name(), "booted");
  EXPECT_EQ(await(thread), 2);
  EXPECT_EQ(boot, 1);
  const auto unbootable =
      spawn_thread([] {}, {.on_thread_start = [] { throw Error("no such module"); }});
  EXPECT_EQ(thrown_by([&] { await(unbootable); }),
            "fermata::RemoteError: fermata::Error: no such module");
}

MAIN_TYPED_TEST(ThreadsOf, AnExitThereDoesNotCross) {
  const auto thread = spawn_thread([] { fermata::exit_with(3); }, {.name = "leaver"});
  EXPECT_EQ(thrown_by([&] { await(thread); }),
            "fermata::ThreadTransferError: thread 'leaver' has called exit(3)");
}

MAIN_TYPED_TEST(ThreadsOf, AnErrorBesideTheTaskIsTheThreadsToo) {
  const auto thread = spawn_thread([] {
    spawn("failing", [] { throw Error("aside"); });
    delay(1ms);
    return 1;
  });
  EXPECT_EQ(thrown_by([&] { await(thread); }), "fermata::RemoteError: fermata::Error: aside");
}

MAIN_TYPED_TEST(ThreadsOf, AWaitThatIsAbandonedLeavesTheThreadAlone) {
  const Gate gate;
  const auto thread = spawn_thread([gate] {
    gate.pass();
    return 1;
  });
  EXPECT_THROW(await(thread, {.timeout = 1ms}), Timeout);
  EXPECT_TRUE(thread.is_running());
  *gate.open = true;
  EXPECT_EQ(await(thread), 1);
}

MAIN_TYPED_TEST(ThreadsOf, AreActivityWhileSomebodyWaits) {
  FERMATA_CHECKS("THR-04");
  const auto before = current_runtime().active_event_count();
  const Gate gate;
  const auto thread = spawn_thread([gate] { gate.pass(); });
  EXPECT_EQ(current_runtime().active_event_count(), before);
  auto waiter = spawn("waiter", [&] { await(thread); });
  suspend();
  EXPECT_EQ(current_runtime().active_event_count(), before + 1);
  *gate.open = true;
  await(waiter);
  EXPECT_EQ(current_runtime().active_event_count(), before);
}

TYPED_TEST(ThreadsOf, StartThreadsThemselves) {
  FERMATA_CHECKS("THR-07");
  std::atomic<int> ran = 0;
  TypeParam::run([&] {
    const auto outer = spawn_thread([&] {
      for (int i = 0; i < 3; ++i) {
        (void)spawn_thread([&ran] {
          delay(1ms);
          ++ran;
        });
      }
    });
    await(outer);
    EXPECT_EQ(ran.load(), 3) << "a thread has ended when its threads have";
  });
}

TYPED_TEST(ThreadsOf, AShutdownShutsThemDown) {
  FERMATA_CHECKS("THR-07");
  std::atomic<int> cancelled = 0;
  TypeParam::run([&] {
    Trigger begun;
    (void)spawn_thread([&] {
      const auto forever = [&] {
        try {
          delay(24h);
        } catch (const Cancellation&) {
          ++cancelled;
          throw;
        }
      };
      spawn("other", forever);
      spawn("signal", [&] { begun.fire(); });
      forever();
    });
    begun.wait();
    shutdown();
  });
  EXPECT_EQ(cancelled.load(), 2) << "all of the thread, not only its main coroutine";
}

MAIN_TYPED_TEST(ThreadsOf, AMutexMakesWhatTheyShareWhole) {
  const auto count = std::make_shared<std::atomic<int>>(0);
  std::vector<Thread<int>> threads;
  for (int i = 0; i < 6; ++i) {
    threads.push_back(spawn_thread([count, i] {
      for (int n = 0; n < 10; ++n) {
        ++*count;
        suspend();
      }
      return i;
    }));
  }
  int sum = 0;
  for (const auto& thread : threads) sum += await(thread);
  EXPECT_EQ(sum, 15);
  EXPECT_EQ(count->load(), 60);
}

}  // namespace
}  // namespace fermata::conformance
