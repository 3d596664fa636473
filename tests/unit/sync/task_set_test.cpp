// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/task_set.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class TaskSetTest : public RuntimeFixture {};

auto later(Duration span, int value) {
  return [span, value] {
    delay(span);
    if (value < 0) throw Error("task " + std::to_string(value));
    return value;
  };
}

MAIN_TEST_F(TaskSetTest, GivesEachCompletionToOneJoiner) {
  FERMATA_CHECKS("TG-15");
  TaskSet<int> set;
  std::vector<Coroutine<int>> joiners;
  for (int i = 0; i < 3; ++i) joiners.push_back(spawn([&] { return set.join_next(); }));
  for (const int i : {3, 1, 2}) set.spawn(later(i * 1ms, i));
  EXPECT_EQ(await(joiners[0]), 1);
  EXPECT_EQ(await(joiners[1]), 2);
  EXPECT_EQ(set.count(), 1u);
  EXPECT_EQ(await(joiners[2]), 3);
  EXPECT_EQ(set.count(), 0u);
  EXPECT_EQ(thrown_by([&] { set.join_next(); }),
            "fermata::UsageError: join_next: the task set is empty: expected a task in it");
}

MAIN_TEST_F(TaskSetTest, HandsOnWhatACancelledJoinerHadBeenGiven) {
  FERMATA_CHECKS("TG-15");
  TaskSet<int> set;
  set.spawn([] {
    for (int i = 0; i < 5; ++i) suspend();
    return 1;
  });
  const auto first = spawn([&] { return set.join_next(); });
  const auto second = spawn([&] { return set.join_next(); });
  const auto canceller = spawn([&] {
    while (set.count() > 1) suspend();
    first.cancel();  // It has been given the task, and has not run.
  });
  set.spawn(later(1ms, 2));
  await(canceller);
  EXPECT_EQ(await(second), 1) << "it was handed on";
  EXPECT_THROW(await(first), Cancellation);
  EXPECT_EQ(set.join_next(), 2);
}

MAIN_TEST_F(TaskSetTest, PutsBackWhatACancelledJoinerHadBeenGivenWhereItWas) {
  FERMATA_CHECKS("TG-15");
  TaskSet<int> set;
  for (int i = 1; i <= 3; ++i) {
    set.spawn([i] {
      for (int turn = 0; turn < 3 * i; ++turn) suspend();
      if (i == 1) throw Error("the first");
      return i;
    });
  }
  const auto joiner = spawn([&] { return set.join_any(); });
  const auto canceller = spawn([&] {
    while (set.count() > 2) suspend();
    joiner.cancel();  // It has been given the first success, and has not run.
  });
  EXPECT_THROW(await(joiner), Cancellation);
  delay(1ms);
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    const auto entry = set.next();
    order.push_back(entry->error ? -1 : *entry->value);
  }
  EXPECT_EQ(order, (std::vector{-1, 2, 3}));
  await(canceller);
}

TEST_F(TaskSetTest, ThrowsTheErrorOfTheTaskThatItTakes) {
  fixture.run([] {
    TaskSet<int> set;
    set.spawn(later(1ms, -1));
    set.spawn(later(2ms, 2));
    EXPECT_EQ(thrown_by([&] { set.join_next(); }), "fermata::Error: task -1");
    EXPECT_EQ(set.join_next(), 2);
  });
  EXPECT_TRUE(fixture.runtime.exit_errors().empty()) << "a delivered error is handled";
}

MAIN_TEST_F(TaskSetTest, JoinsTheFirstSuccessAndLeavesFailures) {
  FERMATA_CHECKS("TG-06", "TG-15");
  TaskSet<int> set;
  set.spawn(later(1ms, -1));
  set.spawn(later(2ms, 2));
  EXPECT_EQ(set.join_any(), 2);
  EXPECT_EQ(set.count(), 1u);
  EXPECT_THROW(set.join_any(), CompositeError);
  EXPECT_EQ(set.count(), 0u);
  EXPECT_EQ(thrown_by([&] { set.join_any(); }),
            "fermata::UsageError: join_any: the task set is empty: expected a task in it");
}

MAIN_TEST_F(TaskSetTest, JoinsAllThatIsLeft) {
  FERMATA_CHECKS("TG-04", "TG-15");
  TaskSet<std::unique_ptr<int>> set;
  for (const int i : {3, 1, 2}) {
    set.spawn([i] {
      delay(i * 1ms);
      return std::make_unique<int>(i);
    });
  }
  const auto one = spawn([&] { return set.join_all(); });
  const auto two = spawn([&] { return set.join_all().size(); });
  EXPECT_EQ(*set.join_next(), 1);
  const auto& rest = await(one);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(**rest.find(0), 3) << "in the order of spawn";
  EXPECT_EQ(await(two), 0u) << "nothing was left";
  EXPECT_TRUE(set.join_all().empty());
}

MAIN_TEST_F(TaskSetTest, MayBeClosedByTheEndOfABody) {
  FERMATA_CHECKS("TG-03", "TG-15");
  TaskSet<int> set;
  set.spawn([closes = std::shared_ptr<void>(nullptr, [&](void*) { set.close(); })] {
    delay(1ms);
    return 1;
  });
  const auto entry = set.next();
  ASSERT_TRUE(entry) << "it was closed, and has a result";
  EXPECT_EQ(entry->value, 1);
  EXPECT_FALSE(set.next());
  EXPECT_EQ(set.count(), 0u);
}

MAIN_TEST_F(TaskSetTest, MayBeEmptiedByTheEndOfABody) {
  FERMATA_CHECKS("TG-15");
  TaskSet<int> set;
  std::vector<int> taken;
  set.spawn([takes = std::shared_ptr<void>(nullptr, [&](void*) {
               while (set.count() > 0) taken.push_back(set.join_next());
             })] { return 1; });
  delay(1ms);
  EXPECT_EQ(taken, (std::vector{1}));
}

MAIN_TEST_F(TaskSetTest, IteratesUntilItIsClosedAndEmpty) {
  FERMATA_CHECKS("TG-15", "TG-17");
  TaskSet<int> set;
  std::vector<int> seen;
  bool told = false;
  const auto reader = spawn([&] {
    while (const auto entry = set.next()) seen.push_back(entry->error ? 0 : *entry->value);
    told = true;
  });
  suspend();
  set.spawn(later(2ms, 2));
  set.spawn(later(1ms, -1));
  delay(5ms);
  EXPECT_EQ(set.count(), 0u);
  set.close();
  await(reader);
  EXPECT_EQ(seen, (std::vector{0, 2}));
  EXPECT_TRUE(told) << "it has waited at the close";
}

MAIN_TEST_F(TaskSetTest, GivesUpJoining) {
  FERMATA_CHECKS("EVT-06");
  TaskSet<int> set;
  set.spawn(later(10ms, 1));
  EXPECT_THROW(set.join_next({.timeout = 0ms}), Timeout);
  EXPECT_THROW(set.join_all(false, {.timeout = 1ms}), Timeout);
  const auto fired = spawn([] {});
  await(fired);
  delay(20ms);
  EXPECT_THROW(set.join_next({.token = &*fired}), OperationCancelled);
  EXPECT_EQ(set.count(), 1u) << "it took nothing";
  EXPECT_EQ(set.join_next(), 1);
}

}  // namespace
}  // namespace fermata::test
