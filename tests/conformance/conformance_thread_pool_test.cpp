// SPDX-License-Identifier: Apache-2.0

// Pools of threads, real and simulated.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/thread_pool.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/gate.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"

namespace fermata::conformance {
namespace {

/// The cancellation that has ended the work of a future; waits for it.
template <class T>
std::string cancellation_of(const Future<T>& future) {
  EXPECT_THROW(await(future), AwaitedCancelled);
  return describe(future.error());
}

using namespace std::chrono_literals;
using test::thrown_by;

constexpr const char* kPoolClosed = "fermata::ThreadPoolError: ThreadPool is closed";
constexpr const char* kNotBegun =
    "fermata::Cancellation: ThreadPool task was cancelled before execution";
constexpr const char* kNobody = "fermata::ThreadPoolError: ThreadPool has no live worker threads";

std::uint64_t sum(const ThreadPoolCounters& c) {
  return c.completed + c.cancelled + c.rejected + c.pending + c.running;
}

template <class Arm>
class ThreadPools : public ::testing::Test {};
TYPED_TEST_SUITE(ThreadPools, Arms);

MAIN_TYPED_TEST(ThreadPools, RunTasksAndCountThem) {
  FERMATA_CHECKS("TP-01", "TP-02", "TP-08");
  ThreadPool pool({.workers = 3, .queue = 2});
  EXPECT_EQ(pool.worker_count(), 3u);
  std::vector<Future<int>> futures;
  for (int i = 0; i < 50; ++i) {
    futures.push_back(pool.submit([i] { return i * i; }));
    const auto counters = pool.counters();
    EXPECT_EQ(sum(counters), counters.submitted);
    EXPECT_EQ(counters.submitted, static_cast<std::uint64_t>(i) + 1);
    EXPECT_LE(counters.running, pool.worker_count());
  }
  std::uint64_t awaited = 0;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(await(futures[static_cast<std::size_t>(i)]), i * i);
    EXPECT_GE(pool.counters().completed, ++awaited);
  }
  pool.close();
  pool.join();
  const auto counters = pool.counters();
  EXPECT_EQ(counters.completed, 50u);
  EXPECT_EQ(counters.pending + counters.running, 0u);
  EXPECT_EQ(pool.worker_count(), 0u);
}

MAIN_TYPED_TEST(ThreadPools, HandOverErrorsAndWhatCanOnlyBeMoved) {
  ThreadPool pool({.workers = 1});
  auto moved = pool.submit([n = std::make_unique<int>(7)]() mutable { return std::move(n); });
  EXPECT_EQ(*await(std::move(moved)), 7);
  const auto failing = pool.submit([] { throw std::runtime_error("disk on fire"); });
  EXPECT_EQ(thrown_by([&] { await(failing); }), "std::runtime_error: disk on fire");
  EXPECT_EQ(await(pool.submit([] { return 1; })), 1) << "an error never kills the thread";
  EXPECT_EQ(pool.counters().completed, 3u);
}

MAIN_TYPED_TEST(ThreadPools, MakeTheCallerWaitWhileTheQueueIsFull) {
  FERMATA_CHECKS("TP-01");
  ThreadPool pool({.workers = 1, .queue = 1});
  const Gate gate;
  auto first = pool.submit([gate] { gate.pass(); });
  until([&] { return pool.counters().running == 1; });
  auto second = pool.submit([] {});
  int accepted = 0;
  auto parked = spawn("parked", [&] {
    await(pool.submit([] {}));
    ++accepted;
  });
  auto given_up = spawn("given up", [&] { await(pool.submit([] { ADD_FAILURE(); })); });
  delay(1ms);
  EXPECT_EQ(accepted, 0);
  EXPECT_EQ(pool.counters().pending, 3u);
  EXPECT_THROW(pool.submit([] { ADD_FAILURE(); }, {.timeout = 1ms}), Timeout);
  given_up.cancel();
  EXPECT_THROW(await(given_up), Cancellation);
  EXPECT_EQ(pool.counters().pending, 2u);
  EXPECT_EQ(pool.counters().submitted, 3u) << "not accepted: never submitted";
  *gate.open = true;
  await(parked);
  await(first);
  await(second);
}

TYPED_TEST(ThreadPools, ATaskThatIsCancelledBeforeItBeginsNeverDoes) {
  FERMATA_CHECKS("TP-04", "TP-01");
  TypeParam::run([] {  // T-TH-1
    ThreadPool pool({.workers = 1, .queue = 4});
    const Gate gate;
    const auto first = pool.submit([gate] { gate.pass(); });
    until([&] { return pool.counters().running == 1; });
    std::atomic<bool> ran = false;
    const auto cancelled = pool.submit([&ran] { ran = true; });
    std::optional<Future<void>> dropped = pool.submit([&ran] { ran = true; });
    EXPECT_THROW(await(*dropped, {.timeout = 0ms}), Timeout);
    dropped.reset();  // It was looked at.
    std::atomic<bool> forgotten = false;
    pool.submit([&forgotten] { forgotten = true; }).ignore();
    cancelled.cancel();
    EXPECT_EQ(cancellation_of(cancelled), "fermata::Cancellation: Future has been cancelled");
    *gate.open = true;
    await(first);
    pool.close();
    pool.join();
    EXPECT_FALSE(ran);
    EXPECT_TRUE(forgotten) << "nobody's future lets its task run";
    const auto counters = pool.counters();
    EXPECT_EQ(counters.completed, 2u);
    EXPECT_EQ(counters.cancelled, 2u);
    EXPECT_EQ(counters.submitted, 4u);
  });
}

MAIN_TYPED_TEST(ThreadPools, ACancelReachesARunningTaskInCoroutineModeOnly) {
  for (const auto mode : {ThreadPoolMode::Coroutine, ThreadPoolMode::Sync}) {
    ThreadPool pool({.workers = 1, .mode = mode});
    const Gate gate;
    std::atomic<bool> begun = false;
    std::atomic<bool> interrupted = false;
    const auto future = pool.submit([&] {
      begun = true;
      try {
        gate.pass();
      } catch (const Cancellation&) {
        interrupted = true;
        throw;
      }
    });
    until([&] { return begun.load(); });
    future.cancel();
    EXPECT_THROW(await(future), Cancellation);
    if (mode == ThreadPoolMode::Sync) *gate.open = true;
    pool.close();
    pool.join();
    EXPECT_EQ(interrupted, mode == ThreadPoolMode::Coroutine);
    EXPECT_EQ(pool.counters().cancelled, interrupted ? 1u : 0u);
  }
}

MAIN_TYPED_TEST(ThreadPools, RunSeveralTasksOnOneThreadInCoroutineMode) {
  FERMATA_CHECKS("TP-02");
  ThreadPool pool({.workers = 1, .queue = 8, .mode = ThreadPoolMode::Coroutine, .concurrency = 3});
  const Gate gate;
  std::vector<Future<void>> futures;
  for (int i = 0; i < 6; ++i) futures.push_back(pool.submit([gate] { gate.pass(); }));
  until([&] { return pool.counters().running == 3; });
  delay(1ms);
  EXPECT_EQ(pool.counters().running, 3u);
  *gate.open = true;
  for (const auto& future : futures) await(future);
}

MAIN_TYPED_TEST(ThreadPools, WhatATaskLeavesRunningEndsWithIt) {
  ThreadPool pool({.workers = 1});
  std::atomic<bool> cancelled = false;
  const auto future = pool.submit([&] {
    spawn("left", [&] {
      try {
        delay(1h);
      } catch (const Cancellation&) {
        cancelled = true;
        throw;
      }
    });
    suspend();
    return 1;
  });
  EXPECT_EQ(await(future), 1);
  EXPECT_TRUE(cancelled);
  const auto failing = pool.submit([] {
    spawn("failing", [] { throw Error("aside"); });
    delay(1ms);
  });
  EXPECT_EQ(thrown_by([&] { await(failing); }), "fermata::Error: aside");
  EXPECT_EQ(pool.worker_count(), 1u);
}

MAIN_TYPED_TEST(ThreadPools, ACloseLetsWhatWasAcceptedRun) {
  FERMATA_CHECKS("TP-06", "TP-03");
  ThreadPool pool({.workers = 1, .queue = 2});
  const Gate gate;
  std::vector<Future<int>> accepted;
  for (int i = 0; i < 3; ++i) {
    accepted.push_back(pool.submit([gate, i] {
      gate.pass();
      return i;
    }));
    if (i == 0) until([&] { return pool.counters().running == 1; });
  }
  auto parked = spawn("parked", [&] { return thrown_by([&] { pool.submit([] {}).ignore(); }); });
  delay(1ms);
  pool.close();
  EXPECT_TRUE(pool.is_closed());
  EXPECT_EQ(await(parked), kPoolClosed);
  EXPECT_EQ(thrown_by([&] { pool.submit([] {}).ignore(); }), kPoolClosed);
  *gate.open = true;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(await(accepted[static_cast<std::size_t>(i)]), i);
  pool.join();
  EXPECT_EQ(pool.counters().submitted, 3u);
  pool.close();
  pool.reload();  // Nothing happens.
  EXPECT_EQ(pool.worker_count(), 0u);
}

MAIN_TYPED_TEST(ThreadPools, ACancelRejectsWhatHasNotBegun) {
  FERMATA_CHECKS("TP-03", "TP-04", "TP-06");
  for (const auto mode : {ThreadPoolMode::Coroutine, ThreadPoolMode::Sync}) {
    ThreadPool pool({.workers = 1, .queue = 3, .mode = mode, .concurrency = 1});
    const Gate gate;
    std::atomic<bool> ran = false;
    std::atomic<bool> begun = false;
    const auto running = pool.submit([gate, &begun] {
      begun = true;
      gate.pass();
      return 1;
    });
    until([&] { return begun.load(); });
    const auto queued = pool.submit([&ran] { ran = true; });
    pool.cancel();
    EXPECT_EQ(cancellation_of(queued), kNotBegun);
    if (mode == ThreadPoolMode::Sync) {
      *gate.open = true;
      EXPECT_EQ(await(running), 1);
    } else {
      EXPECT_EQ(cancellation_of(running), "fermata::Cancellation: Coroutine cancelled");
    }
    EXPECT_EQ(thrown_by([&] { pool.submit([] {}).ignore(); }), kPoolClosed);
    pool.join();
    EXPECT_FALSE(ran);
    EXPECT_EQ(sum(pool.counters()), 2u);
    EXPECT_EQ(pool.counters().pending + pool.counters().running, 0u);
  }
}

MAIN_TYPED_TEST(ThreadPools, MapKeepsTheOrderAndAwaitsAll) {
  FERMATA_CHECKS("TP-07");
  ThreadPool pool({.workers = 3, .queue = 2});
  const std::vector<int> items{5, 1, 4, 2, 3};
  EXPECT_EQ(pool.map(items,
                     [](int item) {
                       delay(std::chrono::microseconds(100 * item));
                       return item * 10;
                     }),
            (std::vector<int>{50, 10, 40, 20, 30}));
  std::atomic<int> ran = 0;
  EXPECT_EQ(thrown_by([&] {
              pool.map(items, [&ran](int item) {
                delay(std::chrono::microseconds(100 * item));
                ++ran;
                if (item % 2 == 0) throw Error("even: " + std::to_string(item));
              });
            }),
            "fermata::Error: even: 4")
      << "the first of the items, not the first in time";
  EXPECT_EQ(ran, 5);
  pool.close();
  EXPECT_EQ(thrown_by([&] { pool.map(items, [](int) {}); }), kPoolClosed);
}

TYPED_TEST(ThreadPools, AReloadReplacesEveryThread) {
  FERMATA_CHECKS("TP-05", "TP-03");
  TypeParam::run([] {  // T-TH-2
    std::atomic<int> generation = 0;
    std::atomic<int> ran = 0;
    ThreadPool pool({.workers = 1, .queue = 1, .on_thread_start = [&] { ++generation; }});
    const Gate gate;
    const auto long_one = pool.submit([&, gate] {
      gate.pass();
      return ++ran;
    });
    until([&] { return pool.counters().running == 1; });
    const auto queued = pool.submit([&] { return ++ran; });
    std::vector<Coroutine<void>> parked;
    std::vector<int> order;
    for (int i = 0; i < 3; ++i) {
      parked.push_back(spawn("parked", [&, i] {
        const auto future = pool.submit([&order, i] { order.push_back(i); });
        await(future);
      }));
      suspend();
    }
    bool reloaded = false;
    auto reload = spawn("reload", [&] {
      pool.reload();
      reloaded = true;
    });
    for (const auto& each : parked) await(each);
    EXPECT_FALSE(reloaded) << "the old thread is busy";
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2})) << "they keep their order";
    EXPECT_EQ(generation, 2);
    EXPECT_EQ(pool.worker_count(), 2u);
    *gate.open = true;
    await(reload);
    EXPECT_EQ(pool.worker_count(), 1u);
    EXPECT_EQ(await(long_one) + await(queued), 3);
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(pool.counters().completed, 5u);
  });
}

MAIN_TYPED_TEST(ThreadPools, ReloadsThatOverlapShareOne) {
  FERMATA_CHECKS("TP-05");
  std::atomic<int> booted = 0;
  ThreadPool pool({.workers = 2, .on_thread_start = [&] { ++booted; }});
  const Gate gate;
  pool.submit([gate] { gate.pass(); }).ignore();
  until([&] { return pool.counters().running == 1; });
  std::vector<Coroutine<void>> reloads;
  for (int i = 0; i < 4; ++i) {
    reloads.push_back(spawn("reload", [&] { pool.reload(); }));
    suspend();
  }
  *gate.open = true;
  for (const auto& each : reloads) await(each);
  EXPECT_EQ(pool.worker_count(), 2u);
  pool.close();
  pool.join();
  EXPECT_EQ(booted, 6) << "the first, and one for the three that came meanwhile";
}

MAIN_TYPED_TEST(ThreadPools, ABootloaderThatFailsClosesThePool) {
  FERMATA_CHECKS("TP-03");
  ThreadPool pool({.workers = 2, .queue = 4, .on_thread_start = [] {
                     throw std::runtime_error("no licence");
                   }});
  const auto future = pool.submit([] {});
  EXPECT_EQ(thrown_by([&] { await(future); }), "std::runtime_error: no licence");
  pool.join();
  EXPECT_TRUE(pool.is_closed());
  EXPECT_EQ(pool.worker_count(), 0u);
  EXPECT_EQ(thrown_by([&] { pool.submit([] {}).ignore(); }), "std::runtime_error: no licence");
  EXPECT_EQ(pool.counters().rejected, 1u);
  EXPECT_EQ(pool.counters().submitted, 1u);
}

MAIN_TYPED_TEST(ThreadPools, ThreadsThatAreGoneLeaveNobodyWaiting) {
  FERMATA_CHECKS("TP-03");
  ThreadPool pool({.workers = 1, .queue = 4});
  const auto last = pool.submit([] { current_runtime().shutdown(); });
  const auto queued = pool.submit([] {});
  EXPECT_EQ(thrown_by([&] { await(queued); }), kNobody);
  EXPECT_EQ(thrown_by([&] { pool.submit([] {}).ignore(); }), kNobody);
  static_cast<void>(thrown_by([&] { await(last); }));
  EXPECT_EQ(sum(pool.counters()), 2u);
  EXPECT_EQ(pool.counters().pending, 0u);
}

TYPED_TEST(ThreadPools, TheRunWaitsForWhatAPoolHasAccepted) {
  FERMATA_CHECKS("TP-06", "THR-07");
  std::atomic<int> ran = 0;
  TypeParam::run([&] {
    ThreadPool pool({.workers = 2});
    for (int i = 0; i < 6; ++i) {
      pool.submit([&ran] {
            delay(1ms);
            ++ran;
          })
          .ignore();
    }
  });
  EXPECT_EQ(ran, 6);
}

TYPED_TEST(ThreadPools, RefuseWhatMakesNoSense) {
  TypeParam::run([] { EXPECT_THROW(ThreadPool({.concurrency = 0}), UsageError); });
  EXPECT_THROW(ThreadPool(), UsageError) << "outside of a run";
}

}  // namespace
}  // namespace fermata::conformance
