// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/future_chain.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

class FutureChainTest : public RuntimeFixture {};

TEST_F(FutureChainTest, EachKindRunsForItsOutcome) {
  FERMATA_CHECKS("FUT-05");
  for (const bool fails : {false, true}) {
    fixture.run([&] {
      Words ran;
      Promise<int> promise;
      const auto future = promise.future();
      const auto mapped = future.map([&](int value) {
        ran.emplace_back("map");
        return std::to_string(value);
      });
      const auto caught = future.catch_error([&](const std::exception_ptr& error) {
        ran.push_back("catch " + message_of(error));
        return -1;
      });
      const auto cleaned = future.finally([&] { ran.emplace_back("finally"); });
      const auto looked = future.finally([&](const Outcome& outcome) {
        ran.emplace_back(outcome.error ? "finally error" : "finally value");
      });
      if (fails) {
        promise.fail(std::runtime_error("broken"));
        EXPECT_EQ(thrown_by([&] { await(mapped); }), "std::runtime_error: broken");
        EXPECT_EQ(await(caught), -1);
        EXPECT_EQ(thrown_by([&] { await(cleaned); }), "std::runtime_error: broken");
        EXPECT_EQ(thrown_by([&] { await(looked); }), "std::runtime_error: broken");
        EXPECT_EQ(ran, (Words{"catch broken", "finally", "finally error"}));
        EXPECT_EQ(mapped.error(), future.error()) << "the same object";
      } else {
        promise.complete(3);
        EXPECT_EQ(await(mapped), "3");
        EXPECT_EQ(await(caught), 3);
        EXPECT_EQ(await(cleaned), 3);
        EXPECT_EQ(await(looked), 3);
        EXPECT_EQ(ran, (Words{"map", "finally", "finally value"}));
        EXPECT_EQ(&await(caught), &await(future)) << "the same object";
      }
    });
  }
  EXPECT_EQ(fixture.log, "");
}

MAIN_TEST_F(FutureChainTest, WorksForVoidAndForWhatCanOnlyBeMoved) {
  int ran = 0;
  const auto done = Future<>::completed()
                        .map([&] { ++ran; })
                        .catch_error([](const std::exception_ptr&) {})
                        .finally([&] { ++ran; });
  await(done);
  EXPECT_EQ(ran, 2);
  Promise<std::unique_ptr<int>> promise;
  const auto passed = promise.future()
                          .finally([&](const Outcome&) { ++ran; })
                          .catch_error([](const std::exception_ptr&) { return nullptr; });
  const auto read = passed.map([](const std::unique_ptr<int>& value) { return *value; });
  promise.complete(std::make_unique<int>(8));
  EXPECT_EQ(await(read), 8);
  EXPECT_EQ(*passed.take_result(), 8);
  EXPECT_EQ(ran, 3);
}

TEST_F(FutureChainTest, AHandlerThatThrowsRejectsItsChild) {
  FERMATA_CHECKS("FUT-05");
  fixture.run([] {
    const auto value = Future<int>::completed(1);
    const auto failed = Future<int>::failed(std::make_exception_ptr(Error("first")));
    const auto mapped = value.map([](int) -> int { throw Error("map"); });
    const auto caught =
        failed.catch_error([](const std::exception_ptr&) -> int { throw Error("catch"); });
    EXPECT_EQ(thrown_by([&] { await(mapped); }), "fermata::Error: map");
    EXPECT_EQ(thrown_by([&] { await(caught); }), "fermata::Error: catch");
    EXPECT_TRUE(failed.event().exception_caught());
  });
  EXPECT_EQ(fixture.log, "");
}

TEST_F(FutureChainTest, AFinallyThatThrowsPutsItsErrorBeforeThatOfItsSource) {
  FERMATA_CHECKS("FUT-07");
  for (const bool handled : {false, true}) {
    fixture.log.clear();
    fixture.run([&] {
      Promise<int> promise;
      {
        const auto future = promise.future();
        const auto child = future.finally([]() -> int { throw Error("second"); });
        promise.fail(Error("first"));
        suspend();
        const auto chain = chain_of(child.error());
        ASSERT_EQ(chain.size(), 2u);
        EXPECT_EQ(message_of(chain[0]), "second");
        EXPECT_EQ(chain[1], future.error());
        if (handled) {
          EXPECT_THROW(await(child), Error);
        }
      }
    });
    const bool warned = fixture.log.find("Future: first") != std::string::npos;
    EXPECT_NE(warned, handled) << "T-FU-3: the source's warning hangs on the child\n"
                               << fixture.log;
  }
}

MAIN_TEST_F(FutureChainTest, WhatAFinallyReturnsDoesNotMatter) {
  FERMATA_CHECKS("FUT-07");
  EXPECT_EQ(await(Future<int>::completed(1).finally([] { return 99; })), 1);
  EXPECT_EQ(await(Future<int>::completed(1)
                      .finally([] { throw Error("x"); })
                      .catch_error([](const std::exception_ptr& error) {
                        return static_cast<int>(chain_of(error).size());
                      })),
            1);
}

MAIN_TEST_F(FutureChainTest, NeverFlattens) {
  FERMATA_CHECKS("FUT-08");
  Promise<int> inner;
  const Future<Future<int>> outer = Future<>::completed().map([&] { return inner.future(); });
  const Future<int> got = await(outer);
  EXPECT_FALSE(got.is_completed());
  inner.complete(4);
  EXPECT_EQ(await(got), 4);
}

MAIN_TEST_F(FutureChainTest, WalksBreadthFirstAndSiblingsInOrder) {
  FERMATA_CHECKS("FUT-06", "FUT-02");
  Words order;
  std::vector<Future<int>> all;
  const auto note = [&](const char* name) {
    return [&order, name](int value) {
      order.emplace_back(name);
      return value;
    };
  };
  Promise<int> promise;
  const auto root = promise.future();
  for (const char* name : {"a", "b", "c"}) all.push_back(root.map(note(name)));
  all.push_back(all[1].map(note("b1")));
  all.push_back(all[0].map(note("a1")));
  all.push_back(all[0].map(note("a2")));
  all.push_back(all[3].map(note("b11")));
  all.push_back(all[2].map(note("c1")));
  const std::uint64_t spawned = runtime.metrics().spawned;
  promise.complete(1);
  EXPECT_TRUE(order.empty());
  for (const auto& future : all) await(future);
  EXPECT_EQ(order, (Words{"a", "b", "c", "a1", "a2", "b1", "c1", "b11"}));
  EXPECT_EQ(runtime.metrics().spawned, spawned + 1) << "one coroutine for all of them";
}

MAIN_TEST_F(FutureChainTest, AHandlerMaySuspendAndDelaysItsWalk) {
  FERMATA_CHECKS("FUT-06");
  Words order;
  const auto source = Future<>::completed();
  Promise<> promise;
  const auto slow = promise.future().map([&] {
    order.emplace_back("slow begins");
    delay(5ms);
    order.emplace_back("slow ends");
  });
  const auto next = promise.future().map([&] { order.emplace_back("next"); });
  promise.complete();
  const auto elsewhere = source.map([&] { order.emplace_back("another walk"); });
  await(next);
  await(slow);
  await(elsewhere);
  EXPECT_EQ(order, (Words{"slow begins", "another walk", "slow ends", "next"}));
}

MAIN_TEST_F(FutureChainTest, OnACompletedSourceItRunsSoonAndNotInline) {
  FERMATA_CHECKS("FUT-02");
  bool ran = false;
  const auto mapped = Future<>::completed().map([&] { ran = true; });
  EXPECT_FALSE(ran);
  suspend();
  EXPECT_TRUE(ran);
  await(mapped);
}

TEST_F(FutureChainTest, KeepsATemporarySourceUntilItRan) {
  FERMATA_CHECKS("FUT-13", "FUT-12");
  fixture.run([] {
    auto alive = std::make_shared<int>(6);
    std::weak_ptr<int> watch = alive;
    Promise<std::shared_ptr<int>> promise;
    int seen = 0;
    promise.future().map([&](const std::shared_ptr<int>& value) { seen = *value; }).ignore();
    promise.complete(std::move(alive));
    promise = Promise<std::shared_ptr<int>>({.name = "another"});
    promise.ignore();
    EXPECT_FALSE(watch.expired());
    suspend();
    EXPECT_EQ(seen, 6);
    EXPECT_TRUE(watch.expired());
  });
  EXPECT_EQ(fixture.log, "");
}

MAIN_TEST_F(FutureChainTest, ACancelledChildDoesNotKeepItsHandlerFromRunning) {
  FERMATA_CHECKS("FUT-05", "FUT-10");
  Promise<int> promise;
  int ran = 0;
  const auto child = promise.future().finally([&] { ++ran; });
  child.cancel();
  promise.complete(1);
  suspend();
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(child.is_cancelled());
  EXPECT_THROW(await(child), Cancellation);
}

TEST_F(FutureChainTest, ACatchAnywhereInTheChainHandlesTheError) {
  FERMATA_CHECKS("FUT-11");
  fixture.run([] {
    Promise<int> promise;
    const auto last = promise.future()
                          .map([](int value) { return value; })
                          .finally([] {})
                          .catch_error([](const std::exception_ptr&) { return 0; });
    promise.fail(Error("caught at the end"));
    EXPECT_EQ(await(last), 0);
  });
  EXPECT_EQ(fixture.log, "");
}

MAIN_TEST_F(FutureChainTest, RunsInTheScopeThatRegisteredIt) {
  FERMATA_CHECKS("FUT-14", "FUT-06");
  Scope first = Scope::detached("first");
  Scope second = Scope::detached("second");
  Promise<int> promise;
  std::vector<const ScopeBase*> ran;
  std::vector<Future<int>> made;
  const auto note = [&](int value) {
    ran.push_back(&current_scope());
    return value;
  };
  const auto grow = [&](const Scope& scope, const Future<int>& source) {
    await(scope.spawn([&] { made.push_back(source.map(note)); }));
  };
  grow(first, promise.future());
  grow(second, promise.future());
  grow(first, promise.future());
  grow(second, made[0]);  // Its source runs in another scope.
  made.push_back(promise.future().map(note));
  promise.complete(1);
  for (const auto& future : made) EXPECT_EQ(await(future), 1);
  EXPECT_EQ(
      ran, (std::vector<const ScopeBase*>{&*first, &*first, &*second, &current_scope(), &*second}));
}

TEST_F(FutureChainTest, ACancelledScopeRejectsWhatItRegistered) {
  FERMATA_CHECKS("FUT-14");
  for (const bool before : {false, true}) {
    for (const bool closes : {false, true}) {
      fixture.run([&] {
        Scope scope = Scope::detached("owner");
        Promise<int> promise;
        bool ran = false;
        std::vector<Future<int>> made;
        const auto holder = scope.spawn([&] {
          const auto source = promise.future();
          made.push_back(source.map([&](int value) {
            ran = true;
            return value;
          }));
          made.push_back(source.finally([&] { ran = true; }));
          made.push_back(made[0].catch_error([&](const std::exception_ptr&) {
            ran = true;
            return 0;
          }));
          if (!closes) delay(1h);
        });
        const auto elsewhere = spawn([&] {
          suspend();
          return await(made[0].catch_error([](const std::exception_ptr&) { return -1; }));
        });
        suspend();
        suspend();
        if (!before) promise.complete(1);
        scope.cancel();
        if (before) promise.complete(1);
        EXPECT_EQ(await(elsewhere), -1) << "who is in another scope goes on";
        for (const auto& future : made) {
          EXPECT_THROW(await(future), Cancellation);
          EXPECT_TRUE(future.is_cancelled());
        }
        EXPECT_FALSE(ran);
      });
    }
  }
  EXPECT_EQ(fixture.log, "");
}

MAIN_TEST_F(FutureChainTest, AShutdownRejectsWhatHasNotRun) {
  Promise<int> promise;
  bool ran = false;
  const auto child = promise.future().map([&](int value) {
    ran = true;
    return value;
  });
  const auto grandchild = child.catch_error([](const std::exception_ptr&) { return 0; });
  promise.complete(1);
  shutdown();
  EXPECT_THROW(suspend(), Cancellation);
  suspend();
  EXPECT_FALSE(ran);
  EXPECT_TRUE(child.is_cancelled());
  EXPECT_TRUE(grandchild.is_cancelled());
}

TEST_F(FutureChainTest, LongChainsEndWithoutDeepRecursion) {
  FERMATA_CHECKS("FUT-12");
  fixture.run([] {
    constexpr int kLength = 20'000;
    for (const bool fails : {false, true}) {
      Promise<int> promise;
      Future<int> tail = promise.future();
      for (int i = 0; i < kLength; ++i) tail = tail.finally([] {});
      if (fails) {
        promise.fail(Error("far away"));
        EXPECT_THROW(await(tail), Error);
      } else {
        promise.complete(1);
        EXPECT_EQ(await(tail), 1);
      }
    }
  });
  EXPECT_EQ(fixture.log, "");
}

}  // namespace
}  // namespace fermata::test
