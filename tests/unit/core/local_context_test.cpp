// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/local_context.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

TEST(LocalContext, FindsWhatWasSet) {
  FERMATA_CHECKS("CORE-CX-07");
  backend::LocalContext context;
  EXPECT_FALSE(context.has("user"));
  EXPECT_EQ(context.find("user"), nullptr);
  context.set("user", 42).set("role", std::string("admin"));
  EXPECT_EQ(context.get<int>("user"), 42);
  EXPECT_EQ(context.get<std::string>("role"), "admin");
  EXPECT_EQ(thrown_by([&] { static_cast<void>(context.get<int>("nobody")); }),
            "fermata::ContextError: context key 'nobody' not found");
  EXPECT_THROW(static_cast<void>(context.get<double>("user")), std::bad_any_cast);
  EXPECT_FALSE(context.has("nobody")) << "reading creates nothing";
}

TEST(LocalContext, ReplacesOnlyWhenAsked) {
  FERMATA_CHECKS("CORE-CX-03");
  backend::LocalContext context;
  context.set("user", 1);
  EXPECT_EQ(thrown_by([&] { context.set("user", 2); }),
            "fermata::Error: context key 'user' has a value already: expected replace");
  EXPECT_EQ(context.get<int>("user"), 1);
  context.set("user", 2, true);
  EXPECT_EQ(context.get<int>("user"), 2);
}

TEST(LocalContext, HoldsAnEmptyValue) {
  backend::LocalContext context;
  context.set("nothing", std::any());
  EXPECT_TRUE(context.has("nothing"));
  EXPECT_FALSE(context.find("nothing")->has_value());
}

TEST(LocalContext, UnsetsIdempotently) {
  backend::LocalContext context;
  context.set("user", 1);
  context.unset("user").unset("user");
  EXPECT_FALSE(context.has("user"));
}

TEST(LocalContext, MayBeUsedByTheEndOfAValue) {
  backend::LocalContext context;
  int ends = 0;
  const auto value = [&] {
    return std::shared_ptr<void>(nullptr, [&](void*) {
      ++ends;
      for (int i = 0; i < 20; ++i) context.set(ContextKey<int>("more"), i);
    });
  };
  const ContextKey<std::shared_ptr<void>> key("typed");
  context.set(key, value()).set(key, nullptr, true);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(context.get(key), nullptr);
  context.set(key, value(), true).unset(key);
  EXPECT_EQ(ends, 2);
  EXPECT_FALSE(context.has(key));
  context.set("named", value()).set("named", 1, true).set("named", value(), true).unset("named");
  EXPECT_EQ(ends, 4);
  EXPECT_FALSE(context.has("named"));
}

TEST(LocalContext, BelongsToOneCoroutine) {
  FERMATA_CHECKS("CORE-CX-04", "CORE-CX-05");
  TestRuntime fixture;
  fixture.run([] {
    coroutine_context().set("who", std::string("main"));
    const auto child = spawn([] {
      EXPECT_FALSE(coroutine_context().has("who")) << "nothing is inherited";
      coroutine_context().set("who", std::string("child"));
      suspend();
      EXPECT_EQ(coroutine_context().get<std::string>("who"), "child");
    });
    suspend();
    EXPECT_EQ(coroutine_context().get<std::string>("who"), "main");
    await(child);
  });
}

TEST(LocalContext, LivesAsLongAsTheCoroutineObject) {
  FERMATA_CHECKS("CORE-CX-06");
  TestRuntime fixture;
  fixture.run([] {
    auto value = std::make_shared<int>(1);
    {
      const auto child = spawn([&] { coroutine_context().set("value", value); });
      await(child);
      EXPECT_EQ(value.use_count(), 2);
    }
    EXPECT_EQ(value.use_count(), 1);
  });
}

TEST(LocalContext, GivesExtensionsASlotUntilTheCoroutineEnds) {
  TestRuntime fixture;
  const backend::SlotKey first = fixture.runtime.allocate_slot();
  const backend::SlotKey second = fixture.runtime.allocate_slot();
  EXPECT_NE(first.index, second.index);
  fixture.run([&] {
    const auto bound = std::make_shared<int>(1);
    const auto child = spawn([&] {
      EXPECT_EQ(current_coroutine().slot(second), nullptr);
      current_coroutine().slot(second) = bound;
      EXPECT_EQ(current_coroutine().slot(first), nullptr);
      suspend();
      EXPECT_EQ(current_coroutine().slot(second), bound);
    });
    await(child);
    EXPECT_EQ(bound.use_count(), 1) << "the slot ends with the coroutine, not with its handle";
  });
}

TEST(LocalContext, HasSlotsThatTheEndOfOneMayAskFor) {
  TestRuntime fixture;
  std::vector<backend::SlotKey> keys;
  for (int i = 0; i < 20; ++i) keys.push_back(fixture.runtime.allocate_slot());
  int ends = 0;
  fixture.run([&] {
    await(spawn([&] {
      current_coroutine().slot(keys[0]) = std::shared_ptr<void>(nullptr, [&](void*) {
        ++ends;
        for (const backend::SlotKey key : keys) EXPECT_EQ(current_coroutine().slot(key), nullptr);
      });
    }));
  });
  EXPECT_EQ(ends, 1);
}

}  // namespace
}  // namespace fermata::test
