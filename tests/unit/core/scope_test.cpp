// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/scope.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/support/scope_fixture.hpp"

namespace fermata::test {
namespace {

class ScopeTreeTest : public ScopeTest {};

MAIN_TEST_F(ScopeTreeTest, OwnsWhatIsSpawnedIntoIt) {
  FERMATA_CHECKS("CORE-SP-01", "CORE-GL-04");
  Scope scope = Scope::detached("workers");
  EXPECT_TRUE(scope->is_idle());
  EXPECT_TRUE(scope->is_empty());
  EXPECT_TRUE(scope->is_open());
  const auto first = scope.spawn("first", [&] {
    EXPECT_EQ(&current_scope(), &*scope);
    const auto inner = spawn([&] { EXPECT_EQ(&current_coroutine().scope(), &*scope); });
    await(inner);
  });
  const auto second = scope.spawn([] { return 7; });
  EXPECT_EQ(scope->member_count(), 2u);
  EXPECT_EQ(scope->active_count(), 2u);
  EXPECT_FALSE(scope->is_idle());
  EXPECT_EQ(runtime.root_scope().member_count(), 1u) << "main alone";
  await(first);
  EXPECT_EQ(await(second), 7);
  EXPECT_EQ(scope->member_count(), 0u);
  EXPECT_TRUE(scope.is_finished());
  EXPECT_FALSE(scope.is_closed()) << "a handle keeps it open";
  EXPECT_EQ(thrown_by([&] { static_cast<void>(first->scope()); }),
            "fermata::UsageError: scope: a coroutine has one from its spawn to its end");
}

MAIN_TEST_F(ScopeTreeTest, SaysWhoItIs) {
  const std::string here = __FILE__;
  Scope named = Scope::detached("workers");
  EXPECT_EQ(named.info(), "Scope #2 'workers' created at " + here + ":" +
                              std::to_string(named->created_at().line));
  const auto unnamed = Scope::inherit();
  EXPECT_EQ(unnamed.info(),
            "Scope #3 created at " + here + ":" + std::to_string(unnamed->created_at().line));
  EXPECT_EQ(runtime.root_scope().name(), "root");
  EXPECT_EQ(to_string(named->kind()), std::string("Scope"));
}

MAIN_TEST_F(ScopeTreeTest, IsDetachedOrInheritsItsSafety) {
  ScopeBase& root = runtime.root_scope();
  EXPECT_TRUE(root.is_root());
  EXPECT_EQ(root.started_members(), StartedMembers::LetRun);
  Scope detached = Scope::detached("detached");
  EXPECT_EQ(detached->parent(), nullptr);
  EXPECT_EQ(detached->started_members(), StartedMembers::Cancel);
  const auto child = Scope::inherit("child");
  EXPECT_EQ(child->parent(), &root);
  EXPECT_EQ(child->started_members(), StartedMembers::LetRun);
  const auto grandchild = Scope::inherit("grandchild", detached);
  EXPECT_EQ(grandchild->parent(), &*detached);
  EXPECT_EQ(grandchild->started_members(), StartedMembers::Cancel);
  EXPECT_EQ(detached.set_started_members(StartedMembers::LetRun)->started_members(),
            StartedMembers::LetRun);
  EXPECT_EQ(grandchild->started_members(), StartedMembers::Cancel) << "copied when it was created";
  EXPECT_EQ(detached.set_started_members(StartedMembers::Cancel)->started_members(),
            StartedMembers::Cancel);
  EXPECT_EQ(detached.child_scopes(), std::vector<ScopeBase*>{&*grandchild});
  EXPECT_TRUE(detached->contains(*grandchild));
  EXPECT_TRUE(detached->contains(*detached));
  EXPECT_FALSE(grandchild->contains(*detached));
}

MAIN_TEST_F(ScopeTreeTest, IsAsBusyAsWhatIsInsideOfIt) {
  FERMATA_CHECKS("CORE-SP-02");
  Scope top = Scope::detached("top");
  const auto middle = Scope::inherit("middle", top);
  const auto bottom = Scope::inherit("bottom", middle);
  EXPECT_TRUE(top->is_idle());
  bottom.spawn([] { delay(1ms); });
  EXPECT_FALSE(top->is_idle());
  EXPECT_FALSE(middle->is_idle());
  EXPECT_EQ(top->busy_child_count(), 1u);
  middle.spawn([] { delay(3ms); });
  delay(2ms);
  EXPECT_TRUE(bottom->is_idle());
  EXPECT_FALSE(middle->is_idle());
  delay(2ms);
  for (const Scope* each : {&std::as_const(top), &middle, &bottom}) {
    EXPECT_TRUE((*each)->is_idle());
    EXPECT_TRUE((*each)->is_empty());
  }
}

TEST_F(ScopeTreeTest, TakesNothingNewOnceItIsCancelledOrClosed) {
  FERMATA_CHECKS("CORE-SP-07", "CORE-CO-15");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    const std::string who = scope.info();
    scope.spawn(worker("w"));
    suspend();
    const auto nothing = [this] { steps.emplace_back("must not run"); };
    const auto refused = [&](const char* operation, const char* condition) {
      return std::string("fermata::UsageError: ") + operation + ": " + who + " is " + condition +
             ": expected an open scope";
    };
    scope->cancel({.started = StartedMembers::Cancel});
    const std::size_t registered = runtime.registry().size();
    EXPECT_EQ(thrown_by([&] { scope.spawn(nothing); }), refused("spawn", "cancelled"));
    EXPECT_EQ(thrown_by([&] { static_cast<void>(Scope::inherit("child", scope)); }),
              refused("Scope::inherit", "cancelled"));
    EXPECT_EQ(runtime.registry().size(), registered);
    EXPECT_EQ(scope->member_count(), 1u);
    suspend();
    EXPECT_TRUE(scope.is_closed());
    EXPECT_EQ(thrown_by([&] { scope.spawn(nothing); }), refused("spawn", "closed"));
    EXPECT_EQ(thrown_by([&] { static_cast<void>(Scope::inherit("child", scope)); }),
              refused("Scope::inherit", "closed"));
  });
  EXPECT_EQ(steps, (Steps{"w begins", "w: Scope was cancelled"}));
}

TEST_F(ScopeTreeTest, RefusesAZombiesSpawnButLetsItDivideItsWork) {
  FERMATA_CHECKS("CORE-SP-05", "CORE-SP-07");
  fixture.run([this] {
    Scope scope = Scope::detached("workers");
    scope.set_started_members(StartedMembers::LetRun);
    const auto zombie = scope.spawn([this] {
      delay(1ms);
      EXPECT_THROW(spawn([] {}), UsageError);
      auto part = Scope::inherit("part");
      await(part.spawn([this] { steps.emplace_back("part"); }));
    });
    suspend();
    scope.cancel();
    await(zombie);
    EXPECT_TRUE(scope.is_closed());
  });
  EXPECT_EQ(steps, Steps{"part"});
}

TEST_F(ScopeTreeTest, CreatesThenCancelsWhatIsSpawnedDuringAShutdown) {
  FERMATA_CHECKS("CORE-CO-03");
  bool finally_ran = false;
  fixture.run([&] {
    Scope scope = Scope::detached("workers");
    shutdown();
    const auto late = scope.spawn([this] { steps.emplace_back("must not run"); });
    late->finally([&](CoroutineBase& coroutine) {
      finally_ran = true;
      EXPECT_TRUE(coroutine.is_cancelled());
    });
    EXPECT_THROW(suspend(), Cancellation);
    suspend();
  });
  EXPECT_TRUE(finally_ran);
  EXPECT_EQ(steps, Steps());
}

TEST_F(ScopeTreeTest, RefusesAScopeOfAnotherRuntime) {
  TestRuntime other;
  fixture.run([&] {
    Scope mine = Scope::detached("mine");
    EXPECT_EQ(
        thrown_by([&] { other.run([&] { spawn({.name = "lost", .scope = &*mine}, [] {}); }); }),
        "fermata::UsageError: spawn: " + mine.info() +
            " belongs to runtime 'main': expected a scope of 'main'");
  });
}

TEST_F(ScopeTreeTest, NeedsARunAndAHandle) {
  EXPECT_EQ(thrown_by([&] { static_cast<void>(runtime.root_scope()); }),
            "fermata::UsageError: root_scope: the runtime is not running");
  EXPECT_THROW(static_cast<void>(Scope::detached("too early")), UsageError);
  fixture.run([] {
    Scope scope = Scope::detached("moved");
    Scope target = std::move(scope);
    EXPECT_FALSE(scope);
    EXPECT_EQ(thrown_by([&] { scope.cancel(); }),
              "fermata::UsageError: Scope: expected a handle that has not been moved from");
    EXPECT_TRUE(target->is_open());
  });
}

TEST_F(ScopeTreeTest, EndsWithItsRunWhoeverHoldsItsHandle) {
  FERMATA_CHECKS("CORE-SP-11", "CORE-SP-14", "CORE-EV-10");
  std::optional<Scope> kept;
  std::optional<Scope> child;
  for (int round = 0; round < 2; ++round) {
    fixture.run([&] {
      kept.emplace(Scope::detached("kept"));
      child.emplace(Scope::inherit("child", *kept));
      kept->finally([this](ScopeBase&) { steps.emplace_back("kept"); });
      child->finally([this](ScopeBase&) { steps.emplace_back("child"); });
      runtime.root_scope().finally([this](ScopeBase&) { steps.emplace_back("root"); });
    });
    EXPECT_TRUE(kept->is_closed());
    EXPECT_TRUE(child->is_closed());
    EXPECT_EQ(kept->child_scopes(), std::vector<ScopeBase*>());
    kept.reset();
    child.reset();
  }
  EXPECT_EQ(steps, (Steps{"child", "kept", "root", "child", "kept", "root"}));
}

TEST_F(ScopeTreeTest, SurvivesARunThatEndsByForce) {
  FERMATA_CHECKS("CORE-GL-09", "CORE-EV-10");
  struct Abandons final : backend::Observer {
    Abandons() : backend::Observer(backend::TraceKinds()) {}
    void note(backend::Trace, const Event*, std::uint64_t) override {}
    void end_step(Runtime&) override {
      if (++step == 5) throw backend::AbandonRun{};
    }
    int step = 0;
  };
  Abandons observer;
  TestRuntime forced(watched_by(observer));
  std::optional<Scope> kept;
  EXPECT_THROW(forced.run([&] {
    kept.emplace(Scope::detached("kept"));
    const auto child = Scope::inherit("child", *kept);
    kept->finally([this](ScopeBase&) { steps.emplace_back("must not run"); });
    child.finally([this](ScopeBase&) { steps.emplace_back("must not run"); });
    kept->spawn([] { delay(1h); });
    child.spawn([] { delay(1h); });
    kept->cancel({.after = 2h});
    delay(3h);
  }),
               backend::AbandonRun);
  EXPECT_TRUE(kept->is_closed());
  EXPECT_EQ(forced.runtime.active_event_count(), 0u);
  EXPECT_EQ(steps, Steps());
  kept.reset();
  EXPECT_TRUE(forced.runtime.kernel().live_events.empty());
}

MAIN_TEST_F(ScopeTreeTest, IsNotDisposedWhileItIsPinned) {
  std::optional handle(Scope::detached("shared"));
  const auto scope = Ref<ScopeBase>::share(**handle);
  scope->pin();
  handle.reset();
  EXPECT_FALSE(scope->is_closed()) << "cancelled, but not disposed";
  EXPECT_TRUE(scope->is_cancelled());
  scope->unpin();
  EXPECT_TRUE(scope->is_closed());
}

}  // namespace
}  // namespace fermata::test
