// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/context.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/support/scope_fixture.hpp"

namespace fermata::test {
namespace {

class ContextTest : public ScopeTest {};

MAIN_TEST_F(ContextTest, FindsTheNearestValueOnTheWayUp) {
  FERMATA_CHECKS("CORE-CX-01", "CORE-CX-07");
  root_context().set("user", std::string("root"));
  const auto middle = Scope::inherit("no values of its own");
  const auto bottom = Scope::inherit("bottom", middle);
  const Context context = bottom.context();
  EXPECT_EQ(context.get<std::string>("user"), "root") << "past one without a context";
  EXPECT_TRUE(context.has("user"));
  EXPECT_FALSE(context.has_local("user"));
  EXPECT_EQ(context.find_local("user"), nullptr);
  EXPECT_EQ(thrown_by([&] { static_cast<void>(context.get_local<std::string>("user")); }),
            "fermata::ContextError: context key 'user' not found");
  middle.context().set("user", std::string("middle"));
  EXPECT_EQ(context.get<std::string>("user"), "middle") << "nothing is cached";
  EXPECT_EQ(context.find("nobody"), nullptr);
  EXPECT_FALSE(context.has("nobody"));
  EXPECT_EQ(thrown_by([&] { static_cast<void>(context.get<int>("nobody")); }),
            "fermata::ContextError: context key 'nobody' not found");
}

MAIN_TEST_F(ContextTest, ShadowsAndUncovers) {
  FERMATA_CHECKS("CORE-CX-02", "CORE-CX-03");
  const Context root = root_context();
  const auto one = Scope::inherit("one");
  const auto two = Scope::inherit("two");
  root.set("level", 0);
  one.context().set("level", 1);
  EXPECT_EQ(one.context().get<int>("level"), 1);
  EXPECT_EQ(root.get<int>("level"), 0);
  EXPECT_EQ(two.context().get<int>("level"), 0) << "a sibling sees nothing of it";
  EXPECT_EQ(thrown_by([&] { one.context().set("level", 2); }),
            "fermata::Error: context key 'level' has a value already: expected replace");
  EXPECT_EQ(one.context().get<int>("level"), 1);
  one.context().set("level", 2, true);
  EXPECT_EQ(one.context().get_local<int>("level"), 2);
  one.context().unset("level").unset("level");
  EXPECT_EQ(one.context().get<int>("level"), 0);
  EXPECT_EQ(root.get<int>("level"), 0);
}

MAIN_TEST_F(ContextTest, HoldsAnEmptyValue) {
  FERMATA_CHECKS("CORE-CX-01", "CORE-CX-07");
  const ContextKey<std::shared_ptr<int>> key("pointer");
  const Context context = current_context();
  context.set("nothing", std::any()).set(key, nullptr);
  EXPECT_TRUE(context.has("nothing"));
  EXPECT_FALSE(context.find("nothing")->has_value());
  EXPECT_TRUE(context.has(key));
  EXPECT_EQ(context.get(key), nullptr);
}

MAIN_TEST_F(ContextTest, TellsTypedKeysApartByIdentity) {
  FERMATA_CHECKS("CORE-CX-01", "CORE-CX-03", "CORE-CX-07");
  const ContextKey<int> key("size");
  const ContextKey<int> namesake("size");
  const ContextKey<int> copy = key;  // NOLINT(performance-unnecessary-copy-initialization)
  const Context root = root_context();
  const auto scope = Scope::inherit("inner");
  root.set(key, 1).set(namesake, 2).set("size", 3);
  EXPECT_EQ(scope.context().get(copy), 1);
  EXPECT_EQ(scope.context().get(namesake), 2);
  EXPECT_EQ(scope.context().get<int>("size"), 3);
  EXPECT_FALSE(scope.context().has_local(key));
  scope.context().set(key, 10);
  EXPECT_EQ(*scope.context().find(key), 10);
  EXPECT_EQ(*scope.context().find_local(key), 10);
  EXPECT_EQ(scope.context().get_local(key), 10);
  EXPECT_EQ(thrown_by([&] { scope.context().set(key, 11); }),
            "fermata::Error: context key 'size' has a value already: expected replace");
  scope.context().set(key, 11, true).unset(namesake);
  EXPECT_EQ(scope.context().get(key), 11);
  scope.context().unset(key).unset(key);
  EXPECT_EQ(scope.context().get(key), 1);
  const ContextKey<std::string> absent("absent");
  EXPECT_EQ(scope.context().find(absent), nullptr);
  EXPECT_EQ(thrown_by([&] { static_cast<void>(scope.context().get(absent)); }),
            "fermata::ContextError: context key 'absent' not found");
}

TEST_F(ContextTest, KeepsAKeyAliveAsLongAsItsValue) {
  FERMATA_CHECKS("CORE-CX-06");
  const auto value = std::make_shared<int>(1);
  fixture.run([&] {
    Scope scope = Scope::detached("holder");
    std::optional key(ContextKey<std::shared_ptr<int>>("kept"));
    scope.context().set(*key, value);
    const std::any* const before = scope.context().find("kept");
    EXPECT_EQ(before, nullptr) << "a typed key is not a string";
    key.reset();
    const ContextKey<std::shared_ptr<int>> other("kept");
    EXPECT_EQ(scope.context().find(other), nullptr) << "an identity is never recycled";
    EXPECT_EQ(value.use_count(), 2);
    scope.cancel();
    EXPECT_EQ(value.use_count(), 1);
  });
}

MAIN_TEST_F(ContextTest, BelongsToAllMembersOfAScope) {
  FERMATA_CHECKS("CORE-CX-05", "CORE-CX-08");
  Scope scope = Scope::detached("members");
  std::vector<Context> seen;
  for (int i = 0; i < 2; ++i) {
    scope.spawn([&, i] {
      const Context mine = current_context();
      mine.set("member " + std::to_string(i), i);
      suspend();
      EXPECT_EQ(current_context(), mine) << "whoever ran in between";
      EXPECT_TRUE(mine.has("member " + std::to_string(1 - i)));
      seen.push_back(mine);
    });
  }
  const Context outside = current_context();
  scope.await_completion();
  EXPECT_EQ(current_context(), outside);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], scope.context());
  EXPECT_EQ(current_context(), root_context());
}

MAIN_TEST_F(ContextTest, IsNotSeenFromADetachedScope) {
  FERMATA_CHECKS("CORE-CX-02");
  root_context().set("user", 1);
  const Scope detached = Scope::detached("detached");
  EXPECT_FALSE(detached.context().has("user"));
  EXPECT_TRUE(Scope::inherit("inherits").context().has("user"));
}

MAIN_TEST_F(ContextTest, IsNotTheCoroutines) {
  FERMATA_CHECKS("CORE-CX-04");
  const ContextKey<int> key("key");
  current_context().set(key, 1);
  EXPECT_FALSE(coroutine_context().has(key));
  coroutine_context().set(key, 2);
  EXPECT_EQ(coroutine_context().get(key), 2);
  EXPECT_EQ(current_context().get(key), 1);
  await(spawn([&] {
    EXPECT_EQ(coroutine_context().find(key), nullptr);
    EXPECT_EQ(current_context().get(key), 1);
  }));
  coroutine_context().unset(key);
  EXPECT_EQ(current_context().get(key), 1);
}

TEST_F(ContextTest, LivesUntilTheFinallyHandlersHaveRun) {
  FERMATA_CHECKS("CORE-SP-16", "CORE-CX-06");
  const auto value = std::make_shared<int>(1);
  fixture.run([&] {
    std::optional scope(Scope::detached("holder"));
    scope->context().set("value", value);
    scope->finally([&](ScopeBase& closed) {
      delay(1ms);
      EXPECT_EQ(closed.context().get<std::shared_ptr<int>>("value"), value);
      EXPECT_TRUE(current_context().has("value")) << "its own scope is inside";
      steps.emplace_back("finally");
    });
    const auto watched = Ref<ScopeBase>::share(**scope);
    scope.reset();
    EXPECT_TRUE(watched->is_closed());
    EXPECT_EQ(value.use_count(), 2);
    delay(2ms);
    EXPECT_EQ(value.use_count(), 1);
    EXPECT_EQ(
        thrown_by([&] { static_cast<void>(watched->context()); }),
        "fermata::UsageError: context: " + watched->info() + " is closed: expected an open scope");
  });
  EXPECT_EQ(steps, Steps{"finally"});
}

TEST_F(ContextTest, LivesAsLongAsAHandle) {
  FERMATA_CHECKS("CORE-CX-06");
  const auto value = std::make_shared<int>(1);
  Context kept;
  fixture.run([&] {
    root_context().set("above", 1);
    const auto scope = Scope::inherit("holder");
    scope.context().set("value", value);
    kept = scope.context();
    EXPECT_TRUE(kept.has("above"));
  });
  EXPECT_TRUE(kept.has("value"));
  EXPECT_FALSE(kept.has("above")) << "it is out of the tree";
  EXPECT_EQ(value.use_count(), 2);
  kept = Context();
  EXPECT_EQ(value.use_count(), 1);
  EXPECT_THROW(static_cast<void>(kept.has("value")), UsageError);
}

MAIN_TEST_F(ContextTest, CopiesTheRequestScopeDown) {
  EXPECT_FALSE(request_context());
  Scope request = Scope::detached("request");
  request->become_request_scope();
  request.context().set("id", 7);
  const auto inner = Scope::inherit("inner", request);
  inner.spawn([&] {
    EXPECT_EQ(request_context(), request.context());
    EXPECT_EQ(request_context().get<int>("id"), 7);
  });
  request.await_completion();
  EXPECT_FALSE(request_context()) << "main is in none";
}

}  // namespace
}  // namespace fermata::test
