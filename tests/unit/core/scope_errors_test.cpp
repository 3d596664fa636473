// SPDX-License-Identifier: Apache-2.0

// The way of an error that nobody awaited, up through the scopes.

#include <gtest/gtest.h>

#include "tests/support/scope_fixture.hpp"

namespace fermata::test {
namespace {

class ScopeErrorsTest : public ScopeTest {
 protected:
  /// A handler that notes what it is given and takes it.
  [[nodiscard]] ScopeErrorHandler taking(std::string name) {
    return [this, name = std::move(name)](ScopeBase& scope, CoroutineBase& failed,
                                          const std::exception_ptr& error) {
      steps.push_back(name + " takes '" + message_of(error) + "' of " + failed.label() + " in " +
                      std::string(scope.name()));
    };
  }
};

TEST_F(ScopeErrorsTest, EndWithAHandler) {
  FERMATA_CHECKS("CORE-SP-08", "CORE-CO-10", "CORE-GL-05");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_exception_handler(taking("handler"));
    const auto sibling = scope.spawn(worker("sibling"));
    scope.spawn("bad", [] { throw Error("failed"); });
    await(sibling);
    EXPECT_FALSE(scope.is_cancelled());
    EXPECT_FALSE(runtime.scheduler().is_shutting_down());
  });
  EXPECT_EQ(steps,
            (Steps{"sibling begins", "handler takes 'failed' of bad in workers", "sibling ends"}));
}

TEST_F(ScopeErrorsTest, AreAskedOfTheChildHandlerFirst) {
  FERMATA_CHECKS("CORE-SP-08");
  fixture.run([this] {
    Scope parent = Scope::detached("parent");
    parent.set_exception_handler(taking("own"));
    parent.set_child_exception_handler(taking("child handler"));
    const auto child = Scope::inherit("child", parent);
    child.spawn("bad", [] { throw Error("failed"); });
    suspend();
    EXPECT_TRUE(child.is_cancelled()) << "it had no handler of its own";
    EXPECT_FALSE(parent.is_cancelled());
    parent.spawn("own bad", [] { throw Error("own error"); });
    suspend();
    parent.set_child_exception_handler(nullptr);
    const auto other = Scope::inherit("other", parent);
    other.spawn("worse", [] { throw Error("again"); });
    suspend();
  });
  EXPECT_EQ(steps, (Steps{"child handler takes 'failed' of bad in child",
                          "own takes 'own error' of own bad in parent",
                          "own takes 'again' of worse in parent"}));
}

TEST_F(ScopeErrorsTest, GoOnWithWhatTheHandlerThrows) {
  FERMATA_CHECKS("CORE-SP-08", "CORE-SP-09", "CORE-GL-05", "CORE-CN-06");
  int calls = 0;
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                Scope parent = Scope::detached("parent");
                const auto child = Scope::inherit("child", parent);
                const ScopeErrorHandler replacing = [&](ScopeBase&, CoroutineBase&,
                                                        const std::exception_ptr&) {
                  throw Error("replacement " + std::to_string(++calls));
                };
                child.set_exception_handler(replacing);
                parent.set_exception_handler(replacing);
                const auto bad = child.spawn("bad", [] { throw Error("failed"); });
                suspend();
                EXPECT_TRUE(child.is_cancelled());
                EXPECT_TRUE(parent.is_cancelled());
                EXPECT_EQ(message_of(bad->error()), "failed") << "its own outcome stays";
                EXPECT_THROW(delay(1h), Cancellation);
              });
            }),
            "fermata::Error: replacement 2\n  previous: fermata::Error: replacement 1\n"
            "  previous: fermata::Error: failed");
  EXPECT_EQ(calls, 2) << "each handler once";
  EXPECT_EQ(runtime.exit_errors().size(), 1u);
}

TEST_F(ScopeErrorsTest, KeepTheErrorWhenAHandlerThrowsACancellation) {
  FERMATA_CHECKS("CORE-GL-05");
  EXPECT_EQ(
      thrown_by([&] {
        fixture.run([&] {
          Scope scope = Scope::detached("workers");
          scope.set_exception_handler([](ScopeBase&, CoroutineBase&, const std::exception_ptr&) {
            throw Cancellation("not now");
          });
          scope.spawn([] { throw Error("failed"); });
          EXPECT_THROW(delay(1h), Cancellation);
        });
      }),
      "fermata::Error: failed\n  previous: fermata::Cancellation: not now");
}

TEST_F(ScopeErrorsTest, CancelTheScopesOnTheWayAndReachTheRuntimeOnce) {
  FERMATA_CHECKS("CORE-SP-09", "CORE-SP-06", "CORE-GL-05");
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                Scope top = Scope::detached("top");
                const auto middle = Scope::inherit("middle", top);
                const auto bottom = Scope::inherit("bottom", middle);
                const auto cousin = Scope::inherit("cousin", top);
                top.spawn(worker("top"));
                middle.spawn(worker("middle"));
                bottom.spawn(worker("bottom"));
                cousin.spawn(worker("cousin"));
                suspend();
                steps.clear();
                bottom.spawn([] { throw Error("failed"); });
                try {
                  delay(1h);
                } catch (const Cancellation&) {
                }
                for (const Scope* each : {&std::as_const(top), &middle, &bottom, &cousin}) {
                  EXPECT_TRUE((*each)->is_cancelled()) << each->info();
                }
              });
            }),
            "fermata::Error: failed");
  EXPECT_EQ(steps, (Steps{"bottom: Coroutine cancelled", "middle: Coroutine cancelled",
                          "cousin: Scope was cancelled", "top: Coroutine cancelled"}));
  EXPECT_EQ(runtime.exit_errors().size(), 1u);
}

TEST_F(ScopeErrorsTest, TreatEachScopeByItsOwnFlag) {
  FERMATA_CHECKS("CORE-SP-05", "CORE-SP-04");
  fixture.run([this] {
    Scope safe = Scope::detached("safe");
    safe.set_started_members(StartedMembers::LetRun);
    auto hard = Scope::inherit("hard", safe);
    hard.set_started_members(StartedMembers::Cancel);
    safe.spawn(worker("in the safe one"));
    hard.spawn(worker("in the hard one"));
    suspend();
    const auto bad = hard.spawn([] { throw Error("failed"); });
    safe.cancel({.after = 1h});
    EXPECT_EQ(thrown_by([&] { safe.await_completion(); }), "fermata::Error: failed");
    safe.await_after_cancellation();
  });
  EXPECT_EQ(steps, (Steps{"in the safe one begins", "in the hard one begins",
                          "in the hard one: Coroutine cancelled", "in the safe one ends"}));
}

MAIN_TEST_F(ScopeErrorsTest, AreTheHoldersInTheRootScope) {
  FERMATA_CHECKS("CORE-SP-09", "CORE-CO-10");
  const auto bad = spawn([] { throw Error("failed"); });
  suspend();
  EXPECT_FALSE(runtime.root_scope().is_cancelled());
  EXPECT_FALSE(runtime.scheduler().is_shutting_down());
  EXPECT_THROW(await(bad), Error);
}

TEST_F(ScopeErrorsTest, MayBeTakenByTheRootScope) {
  FERMATA_CHECKS("CORE-SP-08");
  EXPECT_EQ(fixture.run([this] {
    runtime.root_scope().set_exception_handler(taking("root"));
    spawn("bad", [] { throw Error("failed"); });
    delay(1ms);
    throw Error("of main");
  }),
            0);
  EXPECT_EQ(steps,
            (Steps{"root takes 'failed' of bad in root", "root takes 'of main' of main in root"}));
}

TEST_F(ScopeErrorsTest, AreStillThereForALateAwait) {
  FERMATA_CHECKS("CORE-CO-09", "CORE-CO-10");
  fixture.run([] {
    Scope scope = Scope::detached("workers");
    const auto bad = scope.spawn([] { throw Error("failed"); });
    suspend();
    EXPECT_TRUE(scope.is_cancelled()) << "nobody waited (BUG-38)";
    EXPECT_EQ(thrown_by([&] { await(bad); }), "fermata::Error: failed");
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

TEST_F(ScopeErrorsTest, NeverComeFromSomebodyWhoIsAwaited) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-SP-08");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_exception_handler(taking("handler"));
    const auto bad = scope.spawn([] {
      suspend();
      throw Error("failed");
    });
    EXPECT_THROW(await(bad), Error);
    EXPECT_FALSE(scope.is_cancelled());
  });
  EXPECT_EQ(steps, Steps());
}

TEST_F(ScopeErrorsTest, NeverComeFromACancellation) {
  FERMATA_CHECKS("CORE-CO-11");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_exception_handler(taking("handler"));
    scope.spawn([] { throw Cancellation("of its own"); });
    const auto cancelled = scope.spawn(worker("cancelled"));
    suspend();
    cancelled.cancel();
    suspend();
    EXPECT_TRUE(scope->is_idle());
    EXPECT_FALSE(scope.is_cancelled());
  });
  EXPECT_EQ(steps, (Steps{"cancelled begins", "cancelled: Coroutine cancelled"}));
}

TEST_F(ScopeErrorsTest, GoTheUsualWayFromAZombie) {
  FERMATA_CHECKS("CORE-SP-14", "CORE-SP-08");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_started_members(StartedMembers::LetRun);
    scope.set_exception_handler(taking("handler"));
    scope.spawn("zombie", [] {
      delay(1ms);
      throw Error("failed");
    });
    suspend();
    scope.cancel();
    scope.await_after_cancellation();
    EXPECT_TRUE(scope.is_closed());
  });
  EXPECT_EQ(steps, Steps{"handler takes 'failed' of zombie in workers"});
}

TEST_F(ScopeErrorsTest, AreHandledWhereNobodyMaySuspend) {
  FERMATA_CHECKS("CORE-GL-15");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_exception_handler([this](ScopeBase&, CoroutineBase&, const std::exception_ptr&) {
      EXPECT_THROW(suspend(), UsageError);
      EXPECT_THROW(delay(1ms), UsageError);
      spawn("helper", worker("helper", 1ms));
    });
    scope.spawn([] { throw Error("failed"); });
    delay(5ms);
  });
  EXPECT_EQ(steps, (Steps{"helper begins", "helper ends"}));
}

TEST_F(ScopeErrorsTest, MayMakeTheHandlerCancelItsScope) {
  FERMATA_CHECKS("CORE-SP-08", "CORE-SP-11");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_exception_handler([&](ScopeBase& from, CoroutineBase&, const std::exception_ptr&) {
      from.cancel();
      from.set_exception_handler(nullptr);
    });
    scope.spawn(worker("sibling"));
    scope.spawn([] { throw Error("failed"); });
    suspend();
    EXPECT_TRUE(scope.is_cancelled());
    scope.await_after_cancellation();
    EXPECT_TRUE(scope.is_closed());
  });
  EXPECT_EQ(steps, (Steps{"sibling begins", "sibling: Scope was cancelled"}));
  EXPECT_TRUE(runtime.exit_errors().empty());
}

}  // namespace
}  // namespace fermata::test
