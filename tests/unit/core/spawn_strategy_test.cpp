// SPDX-License-Identifier: Apache-2.0

// Strategies that are told of spawns, and priorities that change later.

#include "fermata/core/spawn_strategy.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fermata/sync/task_group.hpp"
#include "tests/support/scope_fixture.hpp"

namespace fermata::test {
namespace {

class SpawnStrategyTest : public ScopeTest {
 protected:
  /// Notes what it is told.
  class Noting : public backend::SpawnStrategy {
   public:
    explicit Noting(Steps& steps) : steps_(steps) {}
    ScopeBase& provide_scope(CoroutineBase& coroutine, ScopeBase& asked) override {
      note("scope for ", coroutine);
      return other != nullptr ? *other : asked;
    }
    void before_spawn(CoroutineBase& coroutine, ScopeBase&) override {
      note("before ", coroutine);
      if (refuses) throw Error("no more");
      if (hurries) coroutine.set_priority(Priority::High);
    }
    void after_spawn(CoroutineBase& coroutine, ScopeBase& scope) override {
      note("after ", coroutine);
      EXPECT_EQ(&coroutine.scope(), &scope);
      EXPECT_TRUE(coroutine.is_queued());
      if (fails) throw Error("failed after it");
    }

    ScopeBase* other = nullptr;
    bool refuses = false;
    bool hurries = false;
    bool fails = false;

   private:
    void note(const char* what, const CoroutineBase& coroutine) {
      steps_.push_back(what + std::string(coroutine.name()));
    }
    Steps& steps_;
  };

  std::shared_ptr<Noting> strategy = std::make_shared<Noting>(steps);
};

MAIN_TEST_F(SpawnStrategyTest, IsToldOfEachSpawnIntoItsScope) {
  const Scope scope("workers");
  scope.set_spawn_strategy(strategy);
  await(scope.spawn("one", [this] { steps.emplace_back("runs"); }));
  const Scope inner = Scope::inherit("inner", scope);
  await(inner.spawn("not told of", [] {}));
  scope.set_spawn_strategy(nullptr);
  await(scope.spawn("not told of either", [] {}));
  EXPECT_EQ(steps, (Steps{"scope for one", "before one", "after one", "runs"}));
}

MAIN_TEST_F(SpawnStrategyTest, IsToldOfWhatMembersAndPrimitivesSpawn) {
  const Scope scope("workers");
  await(scope.spawn("member", [&] {
    scope.set_spawn_strategy(strategy);
    strategy->other = &runtime.root_scope();
    strategy->hurries = false;
    steps.clear();
    spawn("child", [] {});
  }));
  EXPECT_EQ(steps.front(), "scope for child");
}

MAIN_TEST_F(SpawnStrategyTest, GivesTheScope) {
  const Scope scope("workers");
  const Scope other("other");
  strategy->other = &*other;
  scope.set_spawn_strategy(strategy);
  const auto sent = scope.spawn("sent", [] { delay(1ms); });
  EXPECT_EQ(&sent->scope(), &*other);
  EXPECT_TRUE(scope->is_empty());
  await(sent);
}

MAIN_TEST_F(SpawnStrategyTest, MayRefuse) {
  const Scope scope("workers");
  scope.set_spawn_strategy(strategy);
  strategy->refuses = true;
  EXPECT_EQ(thrown_by([&] { scope.spawn("one", [this] { steps.emplace_back("runs"); }); }),
            "fermata::Error: no more");
  delay(1ms);
  EXPECT_EQ(steps, (Steps{"scope for one", "before one"}));
  EXPECT_TRUE(scope->is_empty());
}

MAIN_TEST_F(SpawnStrategyTest, CannotSendToAScopeThatTakesNothing) {
  const Scope scope("workers");
  const Scope over = Scope::detached("over");
  over.cancel();
  strategy->other = &*over;
  scope.set_spawn_strategy(strategy);
  EXPECT_EQ(thrown_by([&] { scope.spawn("one", [] {}); }),
            "fermata::UsageError: spawn: " + over.info() + " is closed: expected an open scope");
}

MAIN_TEST_F(SpawnStrategyTest, IsNotToldBeforeWhatItsScopeRefuses) {
  const Scope scope("workers");
  scope.set_spawn_strategy(strategy);
  const Scope over = Scope::detached("over");
  over.cancel();
  strategy->other = &*over;
  EXPECT_THROW(scope.spawn("one", [] {}), UsageError);
  TestRuntime elsewhere;
  elsewhere.run([&] {
    strategy->other = &elsewhere.runtime.root_scope();
    EXPECT_EQ(thrown_by([&] { scope.spawn("two", [] {}); }),
              "fermata::UsageError: spawn: " + strategy->other->info() + " belongs to runtime '" +
                  std::string(elsewhere.runtime.name()) + "': expected a scope of '" +
                  std::string(runtime.name()) + "'");
  });
  EXPECT_EQ(steps, (Steps{"scope for one", "scope for two"}));
}

MAIN_TEST_F(SpawnStrategyTest, MayCancelTheCoroutineBefore) {
  class Cancels final : public backend::SpawnStrategy {
    void before_spawn(CoroutineBase& coroutine, ScopeBase&) override { coroutine.cancel(); }
  };
  const Scope scope("workers");
  scope.set_spawn_strategy(std::make_shared<Cancels>());
  const auto one = scope.spawn("one", [this] { steps.emplace_back("runs"); });
  EXPECT_TRUE(one->is_cancellation_requested());
  EXPECT_EQ(thrown_by([&] { await(one); }).substr(0, 25), "fermata::AwaitedCancelled");
  EXPECT_TRUE(one->is_cancelled());
  EXPECT_EQ(steps, (Steps{}));
}

MAIN_TEST_F(SpawnStrategyTest, MayNotCloseTheScopeBefore) {
  class Closes final : public backend::SpawnStrategy {
    void before_spawn(CoroutineBase&, ScopeBase& scope) override { scope.cancel(); }
  };
  const Scope scope = Scope::detached("workers");
  scope.set_spawn_strategy(std::make_shared<Closes>());
  EXPECT_EQ(thrown_by([&] { scope.spawn("one", [this] { steps.emplace_back("runs"); }); }),
            "fermata::UsageError: spawn: " + scope.info() + " is closed: expected an open scope");
  EXPECT_EQ(steps, (Steps{}));
}

MAIN_TEST_F(SpawnStrategyTest, MaySetThePriority) {
  const Scope scope("workers");
  strategy->hurries = true;
  spawn([this] { steps.emplace_back("earlier"); });
  scope.set_spawn_strategy(strategy);
  const auto late = scope.spawn("late", [this] { steps.emplace_back("late"); });
  steps.clear();
  await(late);
  EXPECT_EQ(steps, (Steps{"late", "earlier"}));
}

MAIN_TEST_F(SpawnStrategyTest, MayNotSuspend) {
  class Waits final : public backend::SpawnStrategy {
    void before_spawn(CoroutineBase&, ScopeBase&) override { delay(1ms); }
  };
  const Scope scope("workers");
  scope.set_spawn_strategy(std::make_shared<Waits>());
  EXPECT_THROW(scope.spawn("one", [] {}), UsageError);
}

TEST_F(SpawnStrategyTest, ItsLateErrorIsTheRuntimes) {
  strategy->fails = true;
  EXPECT_THROW(run([this] {
                 const Scope scope("workers");
                 scope.set_spawn_strategy(strategy);
                 scope.spawn("one", [this] { steps.emplace_back("runs"); });
                 delay(1ms);
               }),
               Error);
}

class PriorityTest : public RuntimeFixture {
 protected:
  Coroutine<> spawn_noting(const std::string& name) {
    return spawn(Name(name), [this, name] {
      steps.push_back(name);
      suspend();
      steps.push_back(name + " again");
    });
  }
  Steps steps;
};

MAIN_TEST_F(PriorityTest, RaisedInLineGoesToTheHead) {
  spawn_noting("a");
  const auto b = spawn_noting("b");
  const auto c = spawn_noting("c");
  c->set_priority(Priority::High);
  EXPECT_EQ(c->priority(), Priority::High);
  c->set_priority(Priority::High);
  await(b);
  EXPECT_EQ(steps, (Steps{"c", "a", "b", "c again", "a again", "b again"}))
      << "its own yield goes to the tail";
}

MAIN_TEST_F(PriorityTest, RaisedWhileItWaitsCountsAtItsWake) {
  const auto waiter = spawn("waiter", [this] {
    delay(1ms);
    steps.emplace_back("waiter");
  });
  const auto other = spawn("other", [this] {
    delay(1ms);
    steps.emplace_back("other");
  });
  suspend();
  static_cast<void>(other);
  const auto late = spawn("late", [this] {
    delay(1ms);
    steps.emplace_back("late");
  });
  suspend();
  late->set_priority(Priority::High);
  delay(2ms);
  EXPECT_EQ(steps.front(), "late");
  late->set_priority(Priority::Normal);
  EXPECT_EQ(late->priority(), Priority::High) << "it has ended";
  await(waiter);
}

MAIN_TEST_F(PriorityTest, LoweredInLineKeepsItsPlace) {
  const auto a = spawn(SpawnOptions{.name = "a", .priority = Priority::High},
                       [this] { steps.emplace_back("a"); });
  const auto b = spawn_noting("b");
  a->set_priority(Priority::Normal);
  await(b);
  EXPECT_EQ(steps.front(), "a");
}

}  // namespace
}  // namespace fermata::test
