// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/when_all.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/when_all_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

TEST_F(WhenAllTest, GivesValuesAndErrorsInTheOrderOfCompletion) {
  FERMATA_CHECKS("CORE-AW-01", "CORE-AW-03", "CORE-AW-11");
  fixture.run([] {
    const std::vector tasks{value_after(30ms, 3), failure_after(20ms, "two"), value_after(10ms, 1),
                            failure_after(40ms, "four")};
    const auto [values, errors] = when_all_settled(tasks);
    EXPECT_EQ(text_of(values), "2=1 0=3");
    EXPECT_EQ(text_of(errors), "1=two 3=four");
    EXPECT_EQ(values.find(1), nullptr) << "what failed has no value";
    EXPECT_EQ(values.at(2), 1);
    EXPECT_THROW(static_cast<void>(values.at(3)), UsageError);
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

MAIN_TEST_F(WhenAllTest, GivesThemInTheOrderOfTheItemsWhenAsked) {
  FERMATA_CHECKS("CORE-AW-09");
  const std::vector tasks{value_after(30ms, 3), failure_after(40ms, "four"),
                          failure_after(20ms, "two"), value_after(10ms, 1)};
  const auto [values, errors] = when_all_settled(tasks, {.preserve_order = true});
  EXPECT_EQ(text_of(values), "0=3 3=1");
  EXPECT_EQ(text_of(errors), "1=four 2=two");
}

MAIN_TEST_F(WhenAllTest, KeepsTheKeysOfAMap) {
  FERMATA_CHECKS("CORE-AW-09");
  std::map<std::string, Coroutine<int>> tasks;
  tasks.emplace("slow", value_after(20ms, 2));
  tasks.emplace("fast", value_after(10ms, 1));
  EXPECT_EQ(text_of(when_all_settled(tasks).values), "fast=1 slow=2");
  EXPECT_EQ(text_of(when_all(tasks)), "fast=1 slow=2");
  tasks.emplace("bad", failure_after(1ms, "no"));
  EXPECT_EQ(text_of(when_all_settled(tasks).errors), "bad=no");
}

MAIN_TEST_F(WhenAllTest, TakesEveryKindOfContainer) {
  const auto one = value_after(2ms, 1);
  const auto two = value_after(1ms, 2);
  const std::vector expected{1, 2};
  EXPECT_EQ(when_all({one, two}), expected);
  EXPECT_EQ(when_all(std::array{one, two}), expected);
  const std::vector both{one, two};
  EXPECT_EQ(when_all(std::span(both)), expected);
  const auto owned = spawn([] { return std::make_unique<int>(7); });
  EXPECT_EQ(*when_all({owned}).front(), 7) << "moved out";
  bool ended = false;
  when_all({spawn([&] { ended = true; })});
  EXPECT_TRUE(ended);
  EXPECT_EQ(when_all_settled({spawn([] {})}).values.size(), 1u);
}

TEST_F(WhenAllTest, ThrowsTheFirstErrorByTime) {
  FERMATA_CHECKS("CORE-AW-02", "CORE-AW-08");
  std::string unhandled = thrown_by([&] {
    fixture.run([] {
      const Instant start = now();
      const auto later = failure_after(30ms, "later");
      EXPECT_EQ(thrown_by([&] {
                  when_all({value_after(10ms, 1), later, failure_after(20ms, "first")});
                }),
                "fermata::Error: first");
      EXPECT_EQ(now() - start, 20ms);
      EXPECT_FALSE(later->is_completed());
      delay(1s);
      EXPECT_FALSE(later->exception_caught()) << "it is nobody's";
    });
  });
  EXPECT_EQ(unhandled, "fermata::Error: later");
}

TEST_F(WhenAllTest, LooksAtEndedItemsInTheirOrderWithoutSuspending) {
  FERMATA_CHECKS("CORE-AW-02", "CORE-AW-06");
  fixture.run([this] {
    const std::vector tasks{value_after(3ms, 0), failure_after(2ms, "one"),
                            failure_after(1ms, "two")};
    delay(1s);
    EXPECT_EQ(ticks_of([&] {
                EXPECT_EQ(thrown_by([&] { when_all(tasks); }), "fermata::Error: one");
                EXPECT_EQ(when_any(tasks), 0);
                EXPECT_EQ(text_of(when_all_settled(tasks).errors), "1=one 2=two");
                EXPECT_EQ(text_of(when_some_succeed(1, tasks).errors), "")
                    << "settled by the first";
              }),
              0u);
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

MAIN_TEST_F(WhenAllTest, GivesTheFirstThatEnds) {
  EXPECT_EQ(when_any({value_after(20ms, 2), value_after(10ms, 1)}), 1);
  EXPECT_EQ(thrown_by([] {
              when_any({value_after(20ms, 2), failure_after(10ms, "one")});
            }),
            "fermata::Error: one");
}

TEST_F(WhenAllTest, GivesTheFirstThatSucceedsWithTheErrorsSoFar) {
  FERMATA_CHECKS("CORE-AW-01", "CORE-AW-08");
  fixture.run([] {
    const auto some =
        when_any_succeeds({failure_after(10ms, "one"), value_after(20ms, 2), value_after(30ms, 3)});
    EXPECT_EQ(some.value, 2);
    EXPECT_EQ(text_of(some.errors), "0=one");
    const auto none = when_any_succeeds({failure_after(10ms, "one"), failure_after(5ms, "two")});
    EXPECT_EQ(none.value, std::nullopt);
    EXPECT_EQ(text_of(none.errors), "1=two 0=one");
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

MAIN_TEST_F(WhenAllTest, GivesAsManyAsAreAskedFor) {
  FERMATA_CHECKS("CORE-AW-04");
  const auto tasks = [] {
    return std::vector{value_after(30ms, 3), failure_after(5ms, "no"), value_after(10ms, 1),
                       value_after(20ms, 2)};
  };
  EXPECT_EQ(text_of(when_some_succeed(1, tasks()).values), "2=1");
  EXPECT_EQ(text_of(when_some_succeed(2, tasks()).values), "2=1 3=2");
  EXPECT_EQ(text_of(when_some_succeed(3, tasks()).values), "2=1 3=2 0=3");
  const auto all = when_some_succeed(4, tasks());
  EXPECT_EQ(text_of(all.values), "2=1 3=2 0=3") << "fewer than asked for: all have ended";
  EXPECT_EQ(text_of(all.errors), "1=no");
  EXPECT_EQ(when_some_succeed(0, tasks()).values.size(), 3u) << "all";
  EXPECT_EQ(when_some_succeed(-1, tasks()).values.size(), 3u);
}

MAIN_TEST_F(WhenAllTest, GivesAsManyAsAreAskedForOrFails) {
  FERMATA_CHECKS("CORE-AW-04");
  const std::vector tasks{value_after(30ms, 3), value_after(10ms, 1), value_after(20ms, 2)};
  EXPECT_EQ(ticks_of([&] { EXPECT_TRUE(when_some(0, tasks).empty()); }), 0u);
  EXPECT_EQ(text_of(when_some(2, tasks)), "1=1 2=2");
  EXPECT_EQ(text_of(when_some(9, tasks)), "1=1 2=2 0=3") << "ended ones: asked again";
  EXPECT_THROW(when_some(2, {value_after(1ms, 1), failure_after(2ms, "no")}), Error);
  EXPECT_EQ(text_of(when_some(2, tasks, {.preserve_order = true})), "0=3 1=1");
}

MAIN_TEST_F(WhenAllTest, ReturnsAtOnceWhenThereIsNothing) {
  FERMATA_CHECKS("CORE-AW-10");
  const std::vector<Coroutine<int>> none;
  EXPECT_EQ(ticks_of([&] {
              EXPECT_TRUE(when_all_settled(none).values.empty());
              EXPECT_TRUE(when_all(none).empty());
              EXPECT_EQ(when_any(none), std::nullopt);
              EXPECT_EQ(when_any_succeeds(none).value, std::nullopt);
              EXPECT_TRUE(when_some_succeed(3, none).values.empty());
              EXPECT_TRUE(when_some(3, none).empty());
            }),
            0u);
}

TEST_F(WhenAllTest, SettlesOnceAndForAll) {
  FERMATA_CHECKS("CORE-AW-01", "CORE-AW-04", "CORE-AW-08");
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                // The second and the third end in the step in which the first does.
                const auto gate = spawn([] { delay(10ms); });
                const auto after_gate = [&](int value) {
                  return spawn([&, value] {
                    await(gate);
                    if (value < 0) throw Error("after the settlement");
                    return value;
                  });
                };
                auto tasks = std::vector{after_gate(1), after_gate(2), after_gate(-1)};
                EXPECT_EQ(text_of(when_some(1, tasks)), "0=1");
                suspend();
                EXPECT_TRUE(tasks.back()->is_completed());
                EXPECT_FALSE(tasks.back()->exception_caught()) << "not seen";
                tasks.clear();
                EXPECT_THROW(suspend(), Cancellation);
              });
            }),
            "fermata::Error: after the settlement");
}

MAIN_TEST_F(WhenAllTest, FillsEveryKeyOfAnItem) {
  FERMATA_CHECKS("CORE-AW-03", "CORE-AW-05");
  const auto one = value_after(10ms, 1);
  const auto bad = failure_after(5ms, "no");
  const auto [values, errors] = when_all_settled({one, bad, one, bad});
  EXPECT_EQ(text_of(values), "0=1 2=1");
  EXPECT_EQ(text_of(errors), "1=no 3=no");
  EXPECT_EQ(one->callbacks().size(), 0u);
}

MAIN_TEST_F(WhenAllTest, IsAsGoodForAThousand) {
  FERMATA_CHECKS("CORE-AW-03", "CORE-AW-09");
  std::vector<Coroutine<int>> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(value_after(std::chrono::milliseconds(i % 7), i));
  const std::vector<int> values = when_all(tasks);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], i);
}

MAIN_TEST_F(WhenAllTest, TakesTheErrorsOfMembersOfAScopeFromIt) {
  FERMATA_CHECKS("CORE-AW-08", "CORE-SP-08");
  Scope scope = Scope::detached("workers");
  const auto sibling = scope.spawn("sibling", [] { delay(20ms); });
  const auto failing = [&] {
    return scope.spawn("failing", []() -> int {
      delay(1ms);
      throw Error("awaited");
    });
  };
  EXPECT_EQ(when_all_settled({failing(), failing()}).errors.size(), 2u);
  EXPECT_THROW(when_all({failing()}), Error);
  EXPECT_FALSE(scope.is_cancelled()) << "somebody waits for the errors";
  await(sibling);
}

}  // namespace
}  // namespace fermata::test
