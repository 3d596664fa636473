// SPDX-License-Identifier: Apache-2.0

// Waiting for a scope, from outside.

#include <gtest/gtest.h>

#include "fermata/sync/timeout.hpp"
#include "tests/support/scope_fixture.hpp"

namespace fermata::test {
namespace {

class ScopeAwaitTest : public ScopeTest {};

TEST_F(ScopeAwaitTest, WaitsForTheWholeSubtree) {
  FERMATA_CHECKS("CORE-SP-03");
  fixture.run([this] {
    Scope top = Scope::detached("top");
    const auto child = Scope::inherit("child", top);
    const auto empty = Scope::inherit("empty", top);
    top.await_completion();
    EXPECT_EQ(now(), Instant{1'000'000'000}) << "nobody to wait for, an empty child or not";
    top.spawn(worker("member", 1ms));
    child.spawn(worker("grandmember", 3ms));
    top.await_completion();
    steps.emplace_back("complete");
    EXPECT_TRUE(top->is_open()) << "and may be used again";
    top.spawn(worker("later", 1ms));
    top.await_completion();
  });
  EXPECT_EQ(steps, (Steps{"member begins", "grandmember begins", "member ends", "grandmember ends",
                          "complete", "later begins", "later ends"}));
}

TEST_F(ScopeAwaitTest, LooksAgainAfterItsWake) {
  FERMATA_CHECKS("CORE-SP-03");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    const auto last = scope.spawn([] { delay(1ms); });
    last->finally([&](CoroutineBase&) {});
    Subscription refill = subscribe(*scope, [&, once = true](Event&, const Outcome&) mutable {
      if (std::exchange(once, false)) scope.spawn(worker("refill", 2ms));
    });
    scope.await_completion();
    steps.emplace_back("complete");
    refill.cancel();
  });
  EXPECT_EQ(steps, (Steps{"refill begins", "refill ends", "complete"}));
}

TEST_F(ScopeAwaitTest, DoesNotWaitForZombies) {
  FERMATA_CHECKS("CORE-SP-03", "CORE-SP-14");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    const auto zombie = scope.spawn(worker("zombie"));
    suspend();
    zombie->cancel(nullptr, true);
    EXPECT_TRUE(scope->is_idle());
    scope.await_completion();
    steps.emplace_back("complete");
    scope.cancel({.started = StartedMembers::LetRun});
    scope.await_after_cancellation();
    EXPECT_TRUE(scope.is_closed());
  });
  EXPECT_EQ(steps, (Steps{"zombie begins", "complete", "zombie ends"}));
}

TEST_F(ScopeAwaitTest, IsToldThatTheLastActiveMemberBecameAZombie) {
  FERMATA_CHECKS("CORE-SP-03");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    const auto zombie = scope.spawn(worker("zombie"));
    const auto waiter = spawn([&] {
      scope.await_completion();
      steps.emplace_back("complete");
    });
    suspend();
    zombie->cancel(nullptr, true);
    await(waiter);
    await(zombie);
  });
  EXPECT_EQ(steps, (Steps{"zombie begins", "complete", "zombie ends"}));
}

MAIN_TEST_F(ScopeAwaitTest, RefusesACallerFromInside) {
  FERMATA_CHECKS("CORE-SP-12");
  Scope top = Scope::detached("top");
  const auto middle = Scope::inherit("middle", top);
  const auto bottom = Scope::inherit("bottom", middle);
  const auto refused = [](const Scope& awaited, const char* operation) {
    return "fermata::UsageError: " + std::string(operation) + ": " + current_coroutine().info() +
           " is inside of " + awaited.info() +
           ", which would wait for it: expected a caller outside of the scope";
  };
  const auto member = bottom.spawn("member", [&] {
    for (const Scope* each : {&std::as_const(top), &middle, &bottom}) {
      EXPECT_EQ(thrown_by([&] { each->await_completion(); }), refused(*each, "await_completion"));
    }
    Scope detached = Scope::detached("detached");
    detached.await_completion();
  });
  member->finally([&](CoroutineBase&) {
    EXPECT_THROW(bottom.await_completion(), UsageError) << "a finally handler is inside as well";
  });
  top.await_completion();
  const auto late = bottom.spawn("late", [&] {
    try {
      suspend();
    } catch (const Cancellation&) {
      EXPECT_EQ(thrown_by([&] { top.await_after_cancellation(); }),
                refused(top, "await_after_cancellation"));
    }
  });
  suspend();
  top.cancel();
  top.await_after_cancellation();
}

MAIN_TEST_F(ScopeAwaitTest, ThrowsTheReasonOfACancellation) {
  FERMATA_CHECKS("CORE-SP-03");
  Scope scope = Scope::detached("workers");
  scope.spawn(worker("member"));
  const auto waiter = spawn([&] {
    EXPECT_EQ(thrown_by([&] { scope.await_completion(); }), "fermata::Cancellation: enough");
  });
  suspend();
  scope.cancel({.reason = std::make_exception_ptr(Cancellation("enough"))});
  EXPECT_EQ(thrown_by([&] { scope.await_completion(); }),
            "fermata::Cancellation: the scope has been cancelled: " + scope.info() +
                "\n  previous: fermata::Cancellation: enough");
  await(waiter);
  scope.await_after_cancellation();
  scope.await_completion();
  EXPECT_TRUE(scope.is_closed()) << "then there is nothing to wait for";
}

TEST_F(ScopeAwaitTest, ThrowsWhatAMemberThrows) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-SP-08", "CORE-GL-05");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.spawn(worker("other"));
    scope.spawn([] {
      delay(1ms);
      throw Error("failed");
    });
    EXPECT_EQ(thrown_by([&] { scope.await_completion(); }), "fermata::Error: failed");
    EXPECT_TRUE(scope.is_cancelled());
    scope.await_after_cancellation();
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
  EXPECT_EQ(steps, (Steps{"other begins", "other: Coroutine cancelled"}));
}

TEST_F(ScopeAwaitTest, LosesNoErrorWhenItsWaiterIsCancelledFirst) {
  FERMATA_CHECKS("CORE-GL-05", "CORE-CO-10");
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                Scope scope = Scope::detached("workers");
                const auto waiter = spawn([&] { scope.await_completion(); });
                suspend();
                scope.spawn([] { throw Error("failed"); });
                const auto last = spawn([&] { waiter.cancel(); });
                EXPECT_THROW(delay(1h), Cancellation);
              });
            }),
            "fermata::Error: failed");
}

TEST_F(ScopeAwaitTest, IsAbandonedByItsTokenOrTimeout) {
  FERMATA_CHECKS("CORE-CN-03", "CORE-CN-04");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.spawn(worker("member", 50ms));
    const auto token = make_event<PlainEvent>(runtime);
    const auto waiter = spawn([&] {
      EXPECT_EQ(thrown_by([&] { scope.await_completion({.token = token.get()}); }),
                "fermata::OperationCancelled: Operation has been cancelled\n"
                "  previous: fermata::Error: why");
    });
    suspend();
    token->complete({nullptr, std::make_exception_ptr(Error("why"))});
    await(waiter);
    EXPECT_THROW(scope.await_completion({.token = token.get()}), OperationCancelled);
    const Instant begin = now();
    EXPECT_EQ(thrown_by([&] { scope.await_completion({.timeout = 10ms}); }),
              "fermata::Timeout: Timeout occurred after 10 milliseconds");
    EXPECT_EQ(now() - begin, 10ms);
    EXPECT_THROW(scope.await_completion({.timeout = 0ns}), Timeout);
    EXPECT_THROW(scope.await_completion({.timeout = -1ns}), UsageError);
    EXPECT_FALSE(scope.is_cancelled()) << "the scope goes on";
    scope.await_completion();
    scope.await_completion({.timeout = 0ns, .token = token.get()});
  });
  EXPECT_EQ(steps, (Steps{"member begins", "member ends"}));
}

MAIN_TEST_F(ScopeAwaitTest, GoesOnWithoutADeadlineThatWasCalledOff) {
  FERMATA_CHECKS("CORE-CN-03");
  Scope scope = Scope::detached("workers");
  scope.spawn(worker("member", 5ms));
  const auto before = make_timeout(1ms);
  before->cancel();
  const auto meanwhile = make_timeout(2ms);
  const auto canceller = spawn([&] { meanwhile->cancel(); });
  const Instant begin = now();
  scope.await_completion({.timeout = 10ms, .token = before.get()});
  EXPECT_EQ(now() - begin, 5ms);
  scope.spawn(worker("later", 5ms));
  scope.await_completion({.timeout = 10ms, .token = meanwhile.get()});
  EXPECT_EQ(now() - begin, 10ms);
}

MAIN_TEST_F(ScopeAwaitTest, CountsItsTimeoutFromTheBeginning) {
  Scope scope = Scope::detached("workers");
  const Instant begin = now();
  scope.spawn(worker("first", 6ms));
  Subscription refill = subscribe(*scope, [&, once = true](Event&, const Outcome&) mutable {
    if (std::exchange(once, false)) scope.spawn(worker("second", 6ms));
  });
  EXPECT_EQ(thrown_by([&] { scope.await_completion({.timeout = 10ms}); }),
            "fermata::Timeout: Timeout occurred after 10 milliseconds");
  EXPECT_EQ(now() - begin, 10ms);
  scope.await_completion();
  refill.cancel();
}

MAIN_TEST_F(ScopeAwaitTest, ReplaysThatItHasFinished) {
  FERMATA_CHECKS("CORE-EV-08", "CORE-EV-13");
  Scope scope = Scope::detached("workers");
  scope.spawn(worker("member", 1ms));
  EXPECT_EQ(scope->replay(), nullptr);
  wait(*scope);
  EXPECT_EQ(steps.back(), "member ends");
  scope.cancel();
  EXPECT_NE(scope->replay(), nullptr);
  EXPECT_EQ(wait(*scope), nullptr);
  const Metrics before = runtime.metrics();
  wait(*scope);
  EXPECT_EQ(runtime.metrics().switches, before.switches);
}

TEST_F(ScopeAwaitTest, WaitsForZombiesAfterACancellation) {
  FERMATA_CHECKS("CORE-SP-03");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_started_members(StartedMembers::LetRun);
    EXPECT_EQ(thrown_by([&] { scope.await_after_cancellation(); }),
              "fermata::UsageError: await_after_cancellation: " + scope.info() +
                  " has not been cancelled: expected a cancelled scope");
    scope.spawn(worker("one", 5ms));
    scope.spawn(worker("two", 10ms));
    suspend();
    scope.cancel();
    scope.await_after_cancellation();
    steps.emplace_back("empty");
  });
  EXPECT_EQ(steps, (Steps{"one begins", "two begins", "one ends", "two ends", "empty"}));
}

TEST_F(ScopeAwaitTest, GivesErrorsAfterACancellationToTheHandler) {
  FERMATA_CHECKS("CORE-GL-05");
  const auto failing = [](Duration span, const char* text) {
    return [span, text] {
      try {
        delay(1h);
      } catch (const Cancellation&) {
      }
      delay(span);
      throw Error(text);
    };
  };
  fixture.run([&] {
    Scope scope = Scope::detached("workers");
    for (const char* text : {"one", "two"}) scope.spawn(failing(1ms, text));
    suspend();
    scope.cancel();
    scope.await_after_cancellation([&](const std::exception_ptr& error, ScopeBase& from) {
      EXPECT_EQ(&from, &*scope);
      suspend();
      steps.push_back(message_of(error));
    });
    EXPECT_TRUE(scope.is_closed());

    Scope unhandled = Scope::detached("unhandled");
    unhandled.spawn(failing(1ms, "raised"));
    suspend();
    unhandled.cancel();
    EXPECT_EQ(thrown_by([&] { unhandled.await_after_cancellation(); }), "fermata::Error: raised");

    Scope replaced = Scope::detached("replaced");
    replaced.spawn(failing(1ms, "first"));
    suspend();
    replaced.cancel();
    EXPECT_EQ(thrown_by([&] {
                replaced.await_after_cancellation(
                    [](const std::exception_ptr&, ScopeBase&) { throw Error("by the handler"); });
              }),
              "fermata::Error: by the handler");
  });
  EXPECT_EQ(steps, (Steps{"one", "two"}));
  EXPECT_TRUE(runtime.exit_errors().empty());
}

TEST_F(ScopeAwaitTest, ReportsErrorsThatItTookAndCouldNotDeliver) {
  FERMATA_CHECKS("CORE-GL-05");
  EXPECT_EQ(thrown_by([&] {
              fixture.run([] {
                Scope scope = Scope::detached("workers");
                for (const char* text : {"one", "two"}) {
                  scope.spawn([text] {
                    try {
                      delay(1h);
                    } catch (const Cancellation&) {
                    }
                    throw Error(text);
                  });
                }
                suspend();
                scope.cancel();
                EXPECT_EQ(thrown_by([&] { scope.await_after_cancellation(); }),
                          "fermata::Error: one");
                EXPECT_THROW(delay(1h), Cancellation) << "a shutdown, because of the other";
              });
            }),
            "fermata::Error: two");
}

}  // namespace
}  // namespace fermata::test
