// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/future.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class FutureTest : public RuntimeFixture {};

TEST_F(FutureTest, IsAwaitableLikeACoroutine) {
  static_assert(Awaitable<Future<int>> && Awaitable<Future<>> && Awaitable<Coroutine<int>>);
  static_assert(Awaitable<Future<std::unique_ptr<int>>>);
  fixture.run([] {
    Promise<int> promise;
    const Future<int> future = promise.future();
    const auto reader = spawn([&] { return await(future); });
    suspend();
    EXPECT_FALSE(future.is_completed());
    EXPECT_EQ(future.info(), "Future(pending)");
    promise.complete(7);
    EXPECT_EQ(future.info(), "Future(completed)");
    EXPECT_EQ(await(reader), 7);
    EXPECT_EQ(&await(future), &await(future)) << "shared, not copied";
  });
  EXPECT_EQ(fixture.log, "");
}

MAIN_TEST_F(FutureTest, GivesAMoveOnlyValueToWhoKeepsNoHandle) {
  Promise<std::unique_ptr<int>> promise;
  promise.complete(std::make_unique<int>(3));
  const std::unique_ptr<int> taken = await(promise.future());
  EXPECT_EQ(*taken, 3);
}

MAIN_TEST_F(FutureTest, ResolvesOnce) {
  FERMATA_CHECKS("FUT-01", "FUT-09");
  Promise<int> promise("reply");
  const Future<int> future = promise.future();
  const Promise<int> copy = promise;
  const SourcePlace first{"first.cpp", "", 12};
  EXPECT_EQ(future.completed_place().line, 0);
  promise.complete(1, first);
  const std::string refused =
      "fermata::UsageError: the future is already completed at "
      "first.cpp:12: Future 'reply' created at ";
  for (const auto& again : std::vector<std::function<void()>>{
           [&] { Promise(copy).complete(2); },
           [&] { promise.fail(Error("late")); },
       }) {
    EXPECT_EQ(thrown_by(again).substr(0, refused.size()), refused);
  }
  EXPECT_FALSE(promise.try_complete(3));
  EXPECT_FALSE(promise.try_fail(Error("late")));
  future.cancel();
  EXPECT_EQ(await(future), 1);
  EXPECT_EQ(future.error(), nullptr);
  EXPECT_EQ(future.completed_place().line, 12);
}

MAIN_TEST_F(FutureTest, ReportsAHandleThatRefersToNothing) {
  Promise<int> promise;
  const Promise<int> other = std::move(promise);
  EXPECT_EQ(thrown_by([&] { promise.complete(1); }),  // NOLINT(bugprone-use-after-move)
            "fermata::UsageError: Promise: expected one that has not been moved from");
  EXPECT_THROW((void)Future<int>().is_completed(), UsageError);
  EXPECT_THROW(Promise<int>().fail(std::exception_ptr()), UsageError);
  other.ignore();
}

MAIN_TEST_F(FutureTest, RunsNobodyInsideComplete) {
  FERMATA_CHECKS("FUT-02");
  Promise<int> promise;
  const Future<int> future = promise.future();
  std::vector<std::string> order;
  const auto awaiter = spawn([&] {
    await(future);
    order.emplace_back("awaiter");
  });
  const auto mapped = future.map([&](int) { order.emplace_back("mapper"); });
  const Subscription raw =
      subscribe(future.event(), [&](Event&, const Outcome&) { order.emplace_back("callback"); });
  suspend();
  promise.complete(1);
  EXPECT_EQ(order, std::vector<std::string>{"callback"});
  await(awaiter);
  await(mapped);
  EXPECT_EQ(order, (std::vector<std::string>{"callback", "awaiter", "mapper"}));
}

TEST_F(FutureTest, GivesEveryAwaiterTheSameOutcomeOnce) {
  FERMATA_CHECKS("FUT-03");
  fixture.run([] {
    Promise<int> promise;
    const Future<int> future = promise.future();
    const auto caught = [&]() -> const Error* {
      try {
        await(future);
      } catch (const Error& error) {
        return &error;
      }
      return nullptr;
    };
    std::vector<Coroutine<const Error*>> awaiters;
    for (int i = 0; i < 5; ++i) awaiters.push_back(spawn(caught));
    suspend();
    EXPECT_EQ(promise.awaiting_info().size(), 5u);
    promise.fail(Error("failed"));
    const Error* const late = caught();
    ASSERT_NE(late, nullptr);
    for (const auto& awaiter : awaiters) EXPECT_EQ(await(awaiter), late);
  });
  EXPECT_EQ(fixture.log, "");
}

MAIN_TEST_F(FutureTest, DoesNotSuspendWhoAwaitsACompletedOne) {
  FERMATA_CHECKS("FUT-04");
  const auto value = Future<int>::completed(1);
  const auto failed = Future<int>::failed(std::make_exception_ptr(Error("failed")));
  const auto done = Future<>::completed();
  const Metrics before = runtime.metrics();
  EXPECT_EQ(await(value), 1);
  EXPECT_THROW(await(failed), Error);
  await(done);
  EXPECT_EQ(runtime.metrics().ticks, before.ticks);
  EXPECT_EQ(runtime.metrics().switches, before.switches);
}

MAIN_TEST_F(FutureTest, CancelRejectsAPendingOneOnly) {
  FERMATA_CHECKS("FUT-10");
  Promise<int> promise;
  const Future<int> future = promise.future();
  std::vector<Coroutine<std::string>> awaiters;
  for (int i = 0; i < 2; ++i) {
    awaiters.push_back(spawn([&] {
      EXPECT_THROW(await(future), AwaitedCancelled);
      return describe(future.event().replay()->error);
    }));
  }
  suspend();
  EXPECT_THROW(future.cancel(std::make_exception_ptr(Error("no cancellation"))), UsageError);
  future.cancel();
  EXPECT_TRUE(future.is_cancelled());
  for (const auto& awaiter : awaiters) {
    EXPECT_EQ(await(awaiter), "fermata::Cancellation: Future has been cancelled");
    EXPECT_FALSE(awaiter->is_cancelled());
  }
  EXPECT_THROW(promise.complete(1), UsageError);
  EXPECT_FALSE(promise.try_complete(1));
  const auto done = Future<int>::completed(5);
  done.cancel();
  EXPECT_FALSE(done.is_cancelled());
  EXPECT_EQ(await(done), 5);
}

TEST_F(FutureTest, ATokenEndsOneWaitOnly) {
  FERMATA_CHECKS("FUT-15", "CORE-CN-03", "EVT-07");
  fixture.run([] {
    Promise<int> promise;
    Promise<> stop;
    const Future<int> future = promise.future();
    const Future<> token = stop.future();
    const auto impatient =
        spawn([&] { return thrown_by([&] { await(future, {.token = &token.event()}); }); });
    const auto late = spawn([&] { return thrown_by([&] { await(future, {.timeout = 1ms}); }); });
    const auto patient = spawn([&] { return await(future); });
    suspend();
    stop.fail(Error("enough"));
    EXPECT_EQ(await(impatient),
              "fermata::OperationCancelled: Operation has been cancelled\n"
              "  previous: fermata::Error: enough");
    EXPECT_EQ(await(late).substr(0, 16), "fermata::Timeout");
    EXPECT_FALSE(future.is_completed());
    promise.complete(4);
    EXPECT_EQ(await(patient), 4);
    EXPECT_EQ(await(future, {.token = &token.event()}), 4) << "a completed one wins";
  });
  EXPECT_EQ(fixture.log, "");
}

MAIN_TEST_F(FutureTest, BreaksWhenItsLastPromiseGoesAndSomebodyWaits) {
  FERMATA_CHECKS("FUT-18");
  auto promise = std::make_unique<Promise<int>>(Name("answer"));
  auto copy = std::make_unique<Promise<int>>(*promise);
  const Future<int> future = promise->future();
  const auto mapped = future.map([](int value) { return value; });
  const auto awaiter = spawn([&] { return thrown_by([&] { await(future); }); });
  suspend();
  promise.reset();
  EXPECT_FALSE(future.is_completed()) << "one promise is left";
  copy.reset();
  const std::string expected =
      "fermata::BrokenPromise: Promise was dropped before it was completed: Future 'answer' "
      "created at ";
  EXPECT_EQ(await(awaiter).substr(0, expected.size()), expected);
  EXPECT_THROW(await(mapped), BrokenPromise);
}

MAIN_TEST_F(FutureTest, BreaksWhenSomebodyAsksAfterItsLastPromiseWent) {
  FERMATA_CHECKS("FUT-18");
  const Future<int> awaited = Promise<int>().future();
  const Future<int> mapped = Promise<int>().future();
  const Future<int> asked_twice = Promise<int>().future();
  EXPECT_FALSE(awaited.is_completed());
  EXPECT_THROW(await(awaited), BrokenPromise);
  EXPECT_THROW(await(mapped.map([](int value) { return value; })), BrokenPromise);
  EXPECT_THROW(await(asked_twice), BrokenPromise);
  EXPECT_THROW(await(asked_twice), BrokenPromise);
}

TEST_F(FutureTest, WithoutThePolicyItsWaitersSleepOn) {
  FERMATA_CHECKS("FUT-18");
  EXPECT_THROW(fixture.run([] {
    auto promise = std::make_unique<Promise<int>>(PromiseOptions{.name = {}, .breaks = false});
    const Future<int> future = promise->future();
    const Future<int> child = future.map([](int v) { return v; }).finally([] {});
    promise.reset();
    await(child);
  }),
               DeadlockError);
}

TEST_F(FutureTest, LosesNoErrorWhenTheAwaiterIsCancelledFirst) {
  FERMATA_CHECKS("FUT-11");
  fixture.run([] {
    Promise<int> promise;
    std::string got;
    const auto awaiter =
        spawn([&, future = promise.future()] { got = thrown_by([&] { await(future); }); });
    suspend();
    promise.fail(Error("failed"), SourcePlace{"fail.cpp", "", 2});
    awaiter.cancel();
    await(awaiter);
    EXPECT_EQ(got,
              "fermata::Cancellation: Coroutine cancelled\n  previous: fermata::Error: failed");
  });
  EXPECT_NE(
      fixture.log.find("Unhandled exception in Future: failed; use catch_error() or ignore()"),
      std::string::npos)
      << "nobody took it";
}

MAIN_TEST_F(FutureTest, KeepsNoSubscriberAfterItsResolution) {
  FERMATA_CHECKS("FUT-12", "FUT-13");
  auto probe = std::make_shared<int>(0);
  Promise<int> promise;
  {
    const Future<int> future = promise.future();
    // A callback that holds what it is subscribed to, and that nobody else holds.
    const auto hold = [future, probe](Event&, const Outcome&) {};
    future.event().add_callback(*new detail::FunctionCallback(hold));
    promise.future().map([probe](int value) { *probe = value; }).ignore();
    EXPECT_EQ(future.event().ref_count(), 5u) << "promise, future, two copies, chain";
    promise.complete(5);
    EXPECT_EQ(future.event().ref_count(), 4u) << "promise, future, copy, its coroutine";
    suspend();
    EXPECT_EQ(future.event().ref_count(), 3u);
  }
  EXPECT_EQ(*probe, 5);
  EXPECT_EQ(probe.use_count(), 1);
  EXPECT_EQ(promise.future().event().ref_count(), 2u);
}

MAIN_TEST_F(FutureTest, DoesNotAllocateInASteadyState) {
  const auto round = [] {
    Promise<int> promise;
    const auto mapped = promise.future().map([](int value) { return value; });
    promise.complete(1);
    await(promise.future());
    await(mapped);
  };
  round();
  const std::size_t blocks = runtime.blocks().blocks_in_use();
  for (int i = 0; i < 10; ++i) round();
  suspend();
  EXPECT_EQ(runtime.blocks().blocks_in_use(), blocks);
}

MAIN_TEST_F(FutureTest, WhatACallbackThrowsSurfacesAfterEverythingIsDone) {
  FERMATA_CHECKS("CORE-CB-09");
  Promise<int> promise;
  const Future<int> future = promise.future();
  const Subscription raw =
      subscribe(future.event(), [](Event&, const Outcome&) { throw Error("callback"); });
  const auto mapped = future.map([](int value) { return value + 1; });
  const auto awaiter = spawn([&] { return await(future); });
  suspend();
  EXPECT_THROW(promise.complete(1), Error);
  EXPECT_EQ(await(awaiter), 1);
  EXPECT_EQ(await(mapped), 2);
}

}  // namespace
}  // namespace fermata::test
