// SPDX-License-Identifier: Apache-2.0

// Cancelling a scope: who is hit, in which order, and who is not.

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/scope_fixture.hpp"

namespace fermata::test {
namespace {

class ScopeCancelTest : public ScopeTest {};

TEST_F(ScopeCancelTest, CancelsTheStartedAndDropsTheOthers) {
  FERMATA_CHECKS("CORE-SP-04", "CORE-CO-03");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    const auto started = scope.spawn(worker("started"));
    suspend();
    const auto unstarted = scope.spawn(worker("unstarted"));
    scope.cancel();
    EXPECT_TRUE(scope.is_cancelled());
    EXPECT_FALSE(scope.is_closed()) << "members live";
    EXPECT_TRUE(started->is_cancellation_requested());
    EXPECT_TRUE(unstarted->is_cancellation_requested());
    suspend();
    EXPECT_TRUE(started->is_cancelled());
    EXPECT_TRUE(unstarted->is_cancelled());
    EXPECT_TRUE(scope.is_closed());
    EXPECT_THROW(await(unstarted), Cancellation);
  });
  EXPECT_EQ(steps, (Steps{"started begins", "started: Scope was cancelled"}));
}

TEST_F(ScopeCancelTest, LetsTheStartedOfASafeScopeRunOn) {
  FERMATA_CHECKS("CORE-SP-05", "CORE-SP-14", "CORE-CO-12", "CORE-CO-13");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_started_members(StartedMembers::LetRun);
    const auto started = scope.spawn([] {
      delay(10ms);
      return 42;
    });
    suspend();
    const auto unstarted = scope.spawn(worker("unstarted"));
    const std::size_t active = runtime.scheduler().active_coroutine_count();
    scope.cancel();
    EXPECT_TRUE(started->is_zombie());
    EXPECT_EQ(scope->zombie_count(), 1u);
    EXPECT_EQ(runtime.scheduler().active_coroutine_count(), active - 1);
    for (int i = 0; i < 3; ++i) scope.cancel();
    EXPECT_EQ(runtime.scheduler().active_coroutine_count(), active - 1) << "counted once";
    suspend();
    EXPECT_TRUE(unstarted->is_cancelled());
    EXPECT_TRUE(scope->is_idle());
    EXPECT_FALSE(scope.is_closed()) << "a zombie is in it";
    EXPECT_EQ(await(started), 42);
    EXPECT_FALSE(started->is_cancelled());
    EXPECT_EQ(scope->zombie_count(), 0u);
    EXPECT_TRUE(scope.is_closed());
  });
  EXPECT_EQ(steps, Steps());
}

TEST_F(ScopeCancelTest, KeepsTheRuntimeAliveUntilTheLastZombieEnds) {
  FERMATA_CHECKS("CORE-SP-14");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_started_members(StartedMembers::LetRun);
    scope.spawn(worker("zombie", 1h));
    suspend();
  });
  EXPECT_EQ(steps, (Steps{"zombie begins", "zombie ends"}));
}

TEST_F(ScopeCancelTest, ReachesTheBottomFirst) {
  FERMATA_CHECKS("CORE-SP-04", "CORE-SP-06");
  fixture.run([this] {
    Scope bystander = Scope::detached("bystander");
    bystander.spawn(worker("bystander"));
    Scope top = Scope::detached("top");
    const auto middle = Scope::inherit("middle", top);
    const auto bottom = Scope::inherit("bottom", middle);
    const auto sibling = Scope::inherit("sibling", top);
    top.spawn(worker("top"));
    middle.spawn(worker("middle"));
    bottom.spawn(worker("bottom"));
    sibling.spawn(worker("sibling"));
    suspend();
    steps.clear();
    top.cancel({.reason = std::make_exception_ptr(Cancellation("enough"))});
    bystander.await_completion();
    EXPECT_TRUE(bottom.is_closed());
    EXPECT_FALSE(bystander.is_cancelled());
    EXPECT_FALSE(runtime.root_scope().is_cancelled());
  });
  EXPECT_EQ(steps, (Steps{"bottom: enough", "middle: enough", "sibling: enough", "top: enough",
                          "bystander ends"}));
}

TEST_F(ScopeCancelTest, NeverClimbsToTheParent) {
  FERMATA_CHECKS("CORE-SP-06");
  fixture.run([this] {
    Scope top = Scope::detached("top");
    const auto child = Scope::inherit("child", top);
    const auto sibling = Scope::inherit("sibling", top);
    top.spawn(worker("top"));
    child.spawn(worker("child"));
    sibling.spawn(worker("sibling"));
    suspend();
    child.cancel();
    top.await_completion();
    EXPECT_FALSE(top.is_cancelled());
    EXPECT_FALSE(sibling.is_cancelled());
  });
  EXPECT_EQ(steps, (Steps{"top begins", "child begins", "sibling begins",
                          "child: Scope was cancelled", "top ends", "sibling ends"}));
}

TEST_F(ScopeCancelTest, DecidesForTheWholeSubtree) {
  FERMATA_CHECKS("CORE-SP-04", "CORE-SP-05");
  fixture.run([this] {
    Scope hard = Scope::detached("hard");
    auto soft_child = Scope::inherit("soft child", hard);
    soft_child.set_started_members(StartedMembers::LetRun);
    soft_child.spawn(worker("in a safe child"));
    Scope soft = Scope::detached("soft");
    soft.set_started_members(StartedMembers::LetRun);
    auto hard_child = Scope::inherit("hard child", soft);
    hard_child.set_started_members(StartedMembers::Cancel);
    hard_child.spawn(worker("in an unsafe child"));
    suspend();
    hard.cancel();
    soft.cancel();
    hard_child.await_after_cancellation();
  });
  EXPECT_EQ(steps, (Steps{"in a safe child begins", "in an unsafe child begins",
                          "in a safe child: Scope was cancelled", "in an unsafe child ends"}));
}

TEST_F(ScopeCancelTest, CountsTwiceAsOnce) {
  FERMATA_CHECKS("CORE-SP-13", "CORE-GL-13");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    int cancelled = 0;
    scope.spawn([&] {
      for (int i = 0; i < 2; ++i) {
        try {
          delay(10ms);
        } catch (const Cancellation&) {
          ++cancelled;
        }
      }
      steps.emplace_back("ends by itself");
    });
    suspend();
    scope.cancel();
    suspend();
    scope.cancel();
    EXPECT_FALSE(scope.is_closed()) << "a member lives";
    scope.await_after_cancellation();
    EXPECT_EQ(cancelled, 1) << "no second wave";
    scope.cancel();
    EXPECT_TRUE(scope.is_closed());
  });
  EXPECT_EQ(steps, Steps{"ends by itself"});
}

TEST_F(ScopeCancelTest, MayBecomeHarder) {
  FERMATA_CHECKS("CORE-SP-04");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    const auto child = Scope::inherit("child", scope);
    scope.spawn(worker("member"));
    child.spawn(worker("grandmember"));
    suspend();
    scope.cancel({.started = StartedMembers::LetRun});
    EXPECT_EQ(scope->zombie_count(), 1u);
    suspend();
    EXPECT_TRUE(scope->is_idle());
    scope.cancel({.started = StartedMembers::Cancel});
    suspend();
    EXPECT_TRUE(scope.is_closed());
    EXPECT_TRUE(child.is_closed());
  });
  EXPECT_EQ(steps, (Steps{"member begins", "grandmember begins", "grandmember: Scope was cancelled",
                          "member: Scope was cancelled"}));
}

TEST_F(ScopeCancelTest, DefersInsideProtect) {
  FERMATA_CHECKS("CORE-SP-04", "CORE-CO-06");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    const auto member = scope.spawn([this] {
      protect([this] {
        delay(5ms);
        steps.emplace_back("protected");
      });
    });
    suspend();
    scope.cancel();
    EXPECT_TRUE(member->is_cancellation_requested());
    scope.await_after_cancellation();
    EXPECT_TRUE(member->is_cancelled());
  });
  EXPECT_EQ(steps, Steps{"protected"});
}

TEST_F(ScopeCancelTest, MakesAProtectedMemberOfASafeScopeAZombie) {
  FERMATA_CHECKS("CORE-SP-05");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_started_members(StartedMembers::LetRun);
    const auto member = scope.spawn([this] {
      protect([] { delay(5ms); });
      suspend();
      steps.emplace_back("to its end");
    });
    suspend();
    scope.cancel();
    await(member);
    EXPECT_FALSE(member->is_cancelled());
  });
  EXPECT_EQ(steps, Steps{"to its end"});
}

TEST_F(ScopeCancelTest, MayBeAMembersDoing) {
  FERMATA_CHECKS("CORE-SP-04", "CORE-CO-14");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.spawn(worker("other"));
    const auto member = scope.spawn([&] {
      scope.cancel();
      steps.emplace_back("goes on to its next suspension");
      suspend();
      steps.emplace_back("must not run");
    });
    suspend();
    scope.await_after_cancellation();
    EXPECT_TRUE(member->is_cancelled());
  });
  EXPECT_EQ(steps, (Steps{"other begins", "goes on to its next suspension",
                          "other: Scope was cancelled"}));
}

TEST_F(ScopeCancelTest, MakesTheMemberThatCancelsItsSafeScopeAZombie) {
  FERMATA_CHECKS("CORE-SP-05");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_started_members(StartedMembers::LetRun);
    const auto member = scope.spawn([&] {
      scope.cancel();
      suspend();
      steps.emplace_back("to its end");
    });
    await(member);
    EXPECT_TRUE(member->is_zombie());
    EXPECT_FALSE(member->is_cancelled());
  });
  EXPECT_EQ(steps, Steps{"to its end"});
}

MAIN_TEST_F(ScopeCancelTest, ClosesAnEmptyScopeAtOnce) {
  Scope scope = Scope::detached("workers");
  const auto child = Scope::inherit("child", scope);
  scope.cancel();
  EXPECT_TRUE(scope.is_closed());
  EXPECT_TRUE(child.is_closed());
  EXPECT_TRUE(scope.is_cancelled());
}

TEST_F(ScopeCancelTest, MayHappenWhileAMemberIsFinalized) {
  FERMATA_CHECKS("CORE-SP-04", "CORE-SP-11");
  struct AtFinish final : backend::SwitchHandler {
    explicit AtFinish(ScopeBase& of) : scope(of) {}
    bool on_switch(CoroutineBase&, backend::SwitchMoment moment) override {
      if (moment == backend::SwitchMoment::Finish) scope.cancel();
      return true;
    }
    ScopeBase& scope;
  };
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.spawn(worker("other"));
    const auto ending = scope.spawn([] { return 1; });
    ending->add_switch_handler(std::make_shared<AtFinish>(*scope));
    EXPECT_EQ(await(ending), 1);
    EXPECT_FALSE(ending->is_cancelled()) << "it had ended before";
    scope.await_after_cancellation();
    Scope alone = Scope::detached("alone");
    const auto last = alone.spawn([] { return 2; });
    last->add_switch_handler(std::make_shared<AtFinish>(*alone));
    EXPECT_EQ(await(last), 2);
    EXPECT_TRUE(alone.is_closed());
  });
  EXPECT_EQ(steps, (Steps{"other begins", "other: Scope was cancelled"}));
}

TEST_F(ScopeCancelTest, HappensWhenTheHandleIsDroppedWithLiveMembers) {
  FERMATA_CHECKS("CORE-SP-11");
  fixture.run([this] {
    std::optional scope(Scope::detached("workers"));
    const auto watched = Ref<ScopeBase>::share(**scope);
    scope->spawn(worker("member"));
    suspend();
    scope.reset();
    EXPECT_TRUE(watched->is_cancelled());
    EXPECT_FALSE(watched->is_closed());
    suspend();
    EXPECT_TRUE(watched->is_closed());
    std::optional safe(Scope::detached("safe"));
    safe->set_started_members(StartedMembers::LetRun);
    const auto zombie = safe->spawn(worker("zombie"));
    suspend();
    safe.reset();
    await(zombie);
    std::optional empty(Scope::detached("empty"));
    const auto closing = Ref<ScopeBase>::share(**empty);
    empty.reset();
    EXPECT_TRUE(closing->is_closed());
  });
  EXPECT_EQ(steps,
            (Steps{"member begins", "member: Scope is being disposed due to object destruction",
                   "zombie begins", "zombie ends"}));
}

MAIN_TEST_F(ScopeCancelTest, RefusesTheRootScopeAndReasonsThatAreNone) {
  const std::string root = runtime.root_scope().info();
  EXPECT_EQ(thrown_by([&] { runtime.root_scope().cancel(); }),
            "fermata::UsageError: cancel: " + root + " ends with its runtime: expected shutdown()");
  Scope scope = Scope::detached("workers");
  EXPECT_EQ(
      thrown_by([&] { scope.cancel({.reason = std::make_exception_ptr(Error("not a reason"))}); }),
      "fermata::UsageError: cancel: " + scope.info() +
          " was given 'not a reason' as the reason: expected a Cancellation");
  EXPECT_TRUE(scope->is_open());
}

}  // namespace
}  // namespace fermata::test
