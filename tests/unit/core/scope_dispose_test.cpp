// SPDX-License-Identifier: Apache-2.0

// The end of a scope: deadlines, finally handlers, and the order in which a tree collapses.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>

#include "tests/support/scope_fixture.hpp"

namespace fermata::test {
namespace {

class ScopeDisposeTest : public ScopeTest {
 protected:
  [[nodiscard]] ScopeFinallyHandler noting(std::string step) {
    return [this, step = std::move(step)](ScopeBase&) { steps.push_back(step); };
  }
};

TEST_F(ScopeDisposeTest, CollapsesFromTheBottom) {
  FERMATA_CHECKS("CORE-SP-10", "CORE-SP-11", "CORE-GL-10");
  fixture.run([this] {
    std::optional top(Scope::detached("top"));
    std::optional<Scope> middle(Scope::inherit("middle", *top));
    std::optional<Scope> bottom(Scope::inherit("bottom", *middle));
    const auto watched = Ref<ScopeBase>::share(**top);
    for (Scope* each : {&*top, &*middle, &*bottom}) {
      each->finally(noting(std::string((*each)->name())));
      each->finally(noting(std::string((*each)->name()) + " again"));
    }
    top->spawn(worker("of top", 1ms));
    bottom->spawn(worker("of bottom", 2ms));
    suspend();
    top->cancel({.started = StartedMembers::LetRun});
    watched->await_after_cancellation(nullptr, {}, SourcePlace::current());
    top.reset();
    delay(1ms);
    EXPECT_TRUE(watched->is_closed());
    EXPECT_TRUE((*middle)->is_closed());
    EXPECT_EQ(watched->first_child(), nullptr);
  });
  EXPECT_EQ(steps, (Steps{"of top begins", "of bottom begins", "of top ends", "of bottom ends",
                          "bottom", "bottom again", "middle", "middle again", "top", "top again"}));
}

TEST_F(ScopeDisposeTest, DisposesAParentWithItsIdleChildren) {
  FERMATA_CHECKS("CORE-SP-11");
  fixture.run([this] {
    std::optional parent(Scope::detached("parent"));
    const auto first = Scope::inherit("first", *parent);
    const auto second = Scope::inherit("second", *parent);
    await(first.spawn([] {}));
    await(second.spawn([] {}));
    first.finally(noting("first"));
    second.finally(noting("second"));
    parent->finally(noting("parent"));
    parent.reset();
    EXPECT_TRUE(first.is_closed());
    EXPECT_TRUE(second.is_closed());
    suspend();
  });
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(std::set<std::string>(steps.begin(), steps.end() - 1),
            (std::set<std::string>{"first", "second"}));
  EXPECT_EQ(steps.back(), "parent");
}

TEST_F(ScopeDisposeTest, WaitsForFinallyHandlersThatSuspend) {
  FERMATA_CHECKS("CORE-SP-03", "CORE-SP-10");
  fixture.run([this] {
    Scope top = Scope::detached("top");
    {
      const auto child = Scope::inherit("child", top);
      child.finally([this](ScopeBase& scope) {
        EXPECT_TRUE(scope.is_closed());
        EXPECT_EQ(current_scope().parent(), &scope);
        delay(5ms);
        steps.emplace_back("slow");
      });
      child.finally(noting("quick"));
    }
    top.finally(noting("top"));
    top.await_completion();
    steps.emplace_back("complete");
    top.cancel();
  });
  EXPECT_EQ(steps, (Steps{"quick", "slow", "complete", "top"}));
}

MAIN_TEST_F(ScopeDisposeTest, RunsAFinallyHandlerAtOnceWhenItHasClosed) {
  FERMATA_CHECKS("CORE-SP-10");
  Scope scope = Scope::detached("workers");
  scope.cancel();
  scope.finally([this](ScopeBase&) {
    EXPECT_THROW(suspend(), UsageError) << "in the caller, who did not ask for that";
    steps.emplace_back("now");
  });
  EXPECT_EQ(steps, Steps{"now"});
}

TEST_F(ScopeDisposeTest, GathersWhatFinallyHandlersThrow) {
  FERMATA_CHECKS("CORE-SP-10", "CORE-GL-05");
  std::string got;
  fixture.run([&] {
    Scope parent = Scope::detached("parent");
    parent.set_child_exception_handler(
        [&](ScopeBase& from, CoroutineBase& failed, const std::exception_ptr& error) {
          EXPECT_EQ(from.name(), "child");
          EXPECT_EQ(failed.name(), "child.finally");
          got = describe(error);
        });
    const auto child = Scope::inherit("child", parent);
    child.finally([](ScopeBase&) { throw Error("one"); });
    child.finally([](ScopeBase&) { throw Error("two"); });
    child.finally(noting("the third runs all the same"));
    child.cancel();
    suspend();
    EXPECT_FALSE(parent.is_cancelled());
  });
  EXPECT_EQ(got, "fermata::CompositeError: 2 errors; one; two");
  EXPECT_EQ(steps, Steps{"the third runs all the same"});
}

TEST_F(ScopeDisposeTest, KeepsFinallyHandlersOfMembersFromTheCancellation) {
  FERMATA_CHECKS("CORE-CO-07", "CORE-SP-03", "CORE-GL-10");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_exception_handler(nullptr);
    const auto failing = scope.spawn("failing", [] { throw Error("failed"); });
    failing->finally([this](CoroutineBase& coroutine) {
      EXPECT_EQ(message_of(coroutine.error()), "failed");
      steps.emplace_back("cleaned up");
    });
    suspend();
    EXPECT_TRUE(scope.is_cancelled()) << "by the error, after the launch of the handler (BUG-15)";
    scope.await_after_cancellation();
    EXPECT_THROW(await(failing), Error);
  });
  EXPECT_EQ(steps, Steps{"cleaned up"});
}

TEST_F(ScopeDisposeTest, HappensAtItsDeadline) {
  FERMATA_CHECKS("CORE-SP-15");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.spawn(worker("member", 1h));
    const Instant begin = now();
    scope.cancel({.after = 20ms});
    EXPECT_THROW(scope.await_completion(), Cancellation);
    EXPECT_EQ(now() - begin, 20ms);
    scope.await_after_cancellation();
    EXPECT_TRUE(scope.is_closed());
  });
  EXPECT_EQ(steps, (Steps{"member begins", "member: Scope has been disposed due to timeout"}));
}

TEST_F(ScopeDisposeTest, LeavesNoTimerBehindWhenItClosesEarlier) {
  FERMATA_CHECKS("CORE-SP-15");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.spawn(worker("member", 1ms));
    scope.cancel({.after = 1h});
    EXPECT_EQ(runtime.active_event_count(), 1u);
    scope.await_completion();
    EXPECT_EQ(runtime.active_event_count(), 1u) << "open still";
    scope.cancel();
    EXPECT_EQ(runtime.active_event_count(), 0u);
  });
  EXPECT_LT(runtime.now(), Instant{1'000'000'000} + 1s);
  EXPECT_EQ(steps, (Steps{"member begins", "member ends"}));
}

MAIN_TEST_F(ScopeDisposeTest, TakesTheLastDeadline) {
  FERMATA_CHECKS("CORE-SP-15");
  const Instant begin = now();
  Scope scope = Scope::detached("workers");
  scope.spawn(worker("member", 1h));
  scope.cancel({.after = 10ms});
  scope.cancel({.after = 30ms});
  EXPECT_EQ(runtime.active_event_count(), 1u);
  delay(20ms);
  EXPECT_FALSE(scope.is_cancelled());
  EXPECT_THROW(scope.await_completion(), Cancellation);
  EXPECT_EQ(now() - begin, 30ms);
  scope.cancel({.after = 0ms});
  delay(1ms);
}

MAIN_TEST_F(ScopeDisposeTest, RefusesANegativeDeadlineAndIgnoresOneOfAnEmptyScope) {
  FERMATA_CHECKS("CORE-SP-15");
  Scope scope = Scope::detached("workers");
  EXPECT_EQ(
      thrown_by([&] { scope.cancel({.after = -1ns}); }),
      "fermata::UsageError: cancel: after -1 ns for " + scope.info() + ": expected zero or more");
  scope.cancel({.after = 1ms});
  EXPECT_EQ(runtime.active_event_count(), 0u);
  delay(2ms);
  EXPECT_TRUE(scope->is_open());
  scope.spawn(worker("member"));
  suspend();
  scope.cancel({.after = 1ns});
  EXPECT_TRUE(scope->is_open());
  delay(1ns);
  EXPECT_TRUE(scope.is_cancelled());
}

TEST_F(ScopeDisposeTest, IsNotReenteredByItsChildren) {
  FERMATA_CHECKS("CORE-SP-11");
  fixture.run([this] {
    Scope parent = Scope::detached("parent");
    std::vector<Scope> children;
    int closed = 0;
    std::vector<Subscription> watches;
    for (int i = 0; i < 3; ++i) {
      children.push_back(Scope::inherit("child " + std::to_string(i), parent));
      await(children.back().spawn([] {}));
      watches.push_back(subscribe(*children.back(), [&](Event&, const Outcome&) {
        ++closed;
        parent.cancel();  // Whoever is told looks around and meddles.
      }));
    }
    parent.finally(noting("parent"));
    parent.cancel();
    EXPECT_EQ(closed, 3) << "each closes once";
    suspend();
  });
  EXPECT_EQ(steps, Steps{"parent"});
}

}  // namespace
}  // namespace fermata::test
