// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/task_group.hpp"

#include <gtest/gtest.h>

#include <optional>
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
using Names = std::vector<std::string>;

class TaskGroupTest : public RuntimeFixture {};

template <class Results>
std::vector<int> values_of(const Results& results) {
  std::vector<int> values;
  for (const auto& [key, value] : results) values.push_back(value);
  return values;
}

template <class Results>
std::vector<std::uint64_t> keys_of(const Results& results) {
  std::vector<std::uint64_t> keys;
  for (const auto& [key, value] : results) keys.push_back(key);
  return keys;
}

auto after(Duration span, int value) {
  return [span, value] {
    delay(span);
    return value;
  };
}

auto failing_after(Duration span, const char* what) {
  return [span, what]() -> int {
    delay(span);
    throw Error(what);
  };
}

MAIN_TEST_F(TaskGroupTest, GivesAllResultsInTheOrderOfSpawn) {
  FERMATA_CHECKS("TG-03", "TG-04");
  TaskGroup<int> group;
  for (const int i : {3, 1, 2}) group.spawn(after(i * 1ms, i));
  EXPECT_FALSE(group.is_finished());
  const auto all = group.all();
  EXPECT_EQ(values_of(await(all)), (std::vector{3, 1, 2}));
  EXPECT_EQ(keys_of(await(all)), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(values_of(await(group.all())), (std::vector{3, 1, 2})) << "nothing is taken out";
  EXPECT_EQ(values_of(group.results()), (std::vector{3, 1, 2}));
  EXPECT_TRUE(group.is_finished());
}

MAIN_TEST_F(TaskGroupTest, IsSettledWhenItIsEmpty) {
  TaskGroup<int> group;
  EXPECT_TRUE(group.is_finished());
  EXPECT_TRUE(await(group.all()).empty());
  EXPECT_EQ(thrown_by([&] { (void)group.race(); }),
            "fermata::UsageError: race: the task group is empty: expected a task in it");
  EXPECT_EQ(thrown_by([&] { (void)group.any(); }),
            "fermata::UsageError: any: the task group is empty: expected a task in it");
  EXPECT_EQ(group.info(), "TaskGroup(total=0, active=0)");
}

MAIN_TEST_F(TaskGroupTest, RunsAtMostSoManyAndQueuesTheOthers) {
  FERMATA_CHECKS("TG-01", "TG-02");
  TaskGroup<> group({.concurrency = 2, .queue_limit = 0});
  int running = 0;
  std::vector<int> started;
  for (int i = 0; i < 6; ++i) {
    group.spawn([&, i] {
      started.push_back(i);
      EXPECT_LE(++running, 2);
      delay(1ms);
      --running;
    });
  }
  EXPECT_EQ(group.info(), "TaskGroup(total=6, active=2)");
  await(group.all());
  EXPECT_EQ(started, (std::vector{0, 1, 2, 3, 4, 5}));
}

MAIN_TEST_F(TaskGroupTest, MakesTheSpawnerWaitWhenTheQueueIsFull) {
  FERMATA_CHECKS("TG-01", "TG-14");
  TaskGroup<> group({.concurrency = 1, .queue_limit = 1});
  Names done;
  const auto task = [&](const char* name) {
    return [&done, name] {
      delay(1ms);
      done.emplace_back(name);
    };
  };
  group.spawn(task("running"));
  group.spawn(task("queued"));
  Names spawned;
  const auto spawner = [&](const char* name) {
    return spawn(std::string(name), [&, name] {
      group.spawn(task(name));
      spawned.emplace_back(name);
    });
  };
  const auto a = spawner("a");
  const auto b = spawner("b");
  suspend();
  EXPECT_TRUE(spawned.empty());
  EXPECT_THROW(group.spawn(task("hasty"), {.timeout = 0ms}), Timeout);
  for (const auto& each : {a, b}) await(each);
  EXPECT_EQ(spawned, (Names{"a", "b"}));
  await(group.all());
  EXPECT_EQ(done, (Names{"running", "queued", "a", "b"}));
}

MAIN_TEST_F(TaskGroupTest, HandsOnThePlaceOfASpawnerThatIsCancelled) {
  FERMATA_CHECKS("TG-14");
  TaskGroup<int> group({.concurrency = 1, .queue_limit = 1});
  group.spawn([] {
    for (int i = 0; i < 5; ++i) suspend();
    return 1;
  });
  group.spawn(after(1ms, 2));
  Coroutine<> a;
  a = spawn("a", [&] { group.spawn_with_key(30, after(1ms, 3)); });
  const auto b = spawn("b", [&] { group.spawn_with_key(40, after(1ms, 4)); });
  const auto canceller = spawn([&] {
    while (group.results().empty()) suspend();
    a.cancel();  // It has been granted its place, and has not run.
  });
  await(canceller);
  await(b);
  EXPECT_THROW(await(a), Cancellation);
  EXPECT_EQ(values_of(await(group.all())), (std::vector{1, 2, 4}));
  group.spawn_with_key(30, [] { return 3; });
  EXPECT_EQ(group.count(), 4u) << "the key was free again";
}

MAIN_TEST_F(TaskGroupTest, RefusesKeysThatAreTaken) {
  FERMATA_CHECKS("TG-16");
  TaskGroup<int> group;
  group.spawn_with_key(5, [] { return 1; });
  EXPECT_EQ(group.spawn([] { return 2; }), 6u) << "automatic keys keep clear of those";
  EXPECT_EQ(thrown_by([&] { group.spawn_with_key(6, [] { return 3; }); }),
            "fermata::UsageError: spawn_with_key: key \"6\" is in use: expected a new one");
  TaskGroup<int, std::string> named;
  named.spawn_with_key("one", [] { return 1; });
  EXPECT_EQ(thrown_by([&] { named.spawn_with_key("one", [] { return 1; }); }),
            "fermata::UsageError: spawn_with_key: key \"one\" is in use: expected a new one");
  EXPECT_EQ(await(named.all()).at("one"), 1);
  await(group.all());
}

MAIN_TEST_F(TaskGroupTest, ReservesTheKeyOfASpawnerThatWaits) {
  FERMATA_CHECKS("TG-16");
  TaskGroup<int> group({.concurrency = 1, .queue_limit = 1});
  group.spawn(after(1ms, 1));
  group.spawn(after(1ms, 2));
  const auto waiting = spawn([&] { group.spawn_with_key(7, after(1ms, 3)); });
  suspend();
  EXPECT_THROW(group.spawn_with_key(7, after(1ms, 4)), UsageError);
  await(waiting);
  await(group.all());
}

MAIN_TEST_F(TaskGroupTest, RacesInTheOrderOfCompletion) {
  FERMATA_CHECKS("TG-06");
  TaskGroup<int> group;
  group.spawn(after(3ms, 3));
  group.spawn(failing_after(1ms, "first"));
  group.spawn(after(2ms, 2));
  const auto race = group.race();
  const auto any = group.any();
  EXPECT_EQ(thrown_by([&] { await(race); }), "fermata::Error: first");
  EXPECT_EQ(await(any), 2);
  EXPECT_EQ(values_of(await(group.all(true))), (std::vector{3, 2}));
  EXPECT_EQ(await(group.any()), 2) << "late, the same";
  EXPECT_THROW(await(group.race()), Error);
}

MAIN_TEST_F(TaskGroupTest, ResolvesEveryWaiterOfEachKind) {
  FERMATA_CHECKS("TG-05");
  TaskGroup<int> group;
  group.spawn(after(1ms, 7));
  std::vector<Coroutine<int>> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.push_back(spawn([&] { return await(group.all()).at(0); }));
    waiters.push_back(spawn([&] { return await(group.race()); }));
    waiters.push_back(spawn([&] { return await(group.any()); }));
  }
  for (const auto& waiter : waiters) EXPECT_EQ(await(waiter), 7);
}

TEST_F(TaskGroupTest, GivesAllErrorsTogether) {
  fixture.run([] {
    TaskGroup<int> group;
    group.spawn(failing_after(2ms, "one"));
    group.spawn(failing_after(1ms, "two"));
    const auto all = group.all();
    const auto any = group.any();
    for (const auto& get : {std::function<void()>([&] { await(all); }), {[&] { await(any); }}}) {
      try {
        get();
        ADD_FAILURE() << "it has failed";
      } catch (const CompositeError& error) {
        ASSERT_EQ(error.errors().size(), 2u);
        EXPECT_EQ(message_of(error.errors()[0]), "one") << "in the order of spawn";
      }
    }
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

MAIN_TEST_F(TaskGroupTest, CancelsNoTaskWhenAViewIsCancelled) {
  FERMATA_CHECKS("TG-07");
  TaskGroup<int> group;
  group.spawn(after(5ms, 1));
  group.all().ignore().cancel();
  group.race().ignore().cancel();
  EXPECT_THROW(await(group.any(), {.timeout = 1ms}), Timeout);
  EXPECT_EQ(values_of(await(group.all())), std::vector{1});
}

MAIN_TEST_F(TaskGroupTest, TakesNothingWhenItIsClosed) {
  FERMATA_CHECKS("TG-08", "TG-09");
  TaskGroup<int> group({.concurrency = 1, .queue_limit = 1});
  group.spawn(failing_after(1ms, "not thrown"));
  group.spawn(after(1ms, 2));
  EXPECT_EQ(thrown_by([&] { group.await_completion(); }),
            "fermata::UsageError: await_completion: the task group is open: expected a closed one");
  const auto spawner = spawn([&] {
    EXPECT_EQ(thrown_by([&] { group.spawn(after(1ms, 3)); }),
              "fermata::UsageError: spawn: the task group is closed: expected an open one");
  });
  suspend();
  group.close();
  group.close();
  EXPECT_EQ(thrown_by([&] { group.spawn(after(1ms, 3)); }),
            "fermata::UsageError: spawn: the task group is closed: expected an open one");
  await(spawner);
  const Instant start = now();
  EXPECT_THROW(group.await_completion({.timeout = 1us}), Timeout);
  group.await_completion();
  EXPECT_EQ(now() - start, 2ms);
  EXPECT_EQ(thrown_by([&] { group.spawn(after(1ms, 3)); }),
            "fermata::UsageError: spawn: the task group has completed: expected an open one");
  EXPECT_EQ(group.count(), 2u);
  wait(group.event());
  group.suppress_errors();
}

MAIN_TEST_F(TaskGroupTest, CancelsAlsoAfterItWasClosed) {
  FERMATA_CHECKS("TG-03", "TG-09", "TG-10");
  TaskGroup<> group({.concurrency = 1, .queue_limit = 0});
  int begun = 0;
  for (int i = 0; i < 3; ++i) {
    group.spawn([&] {
      ++begun;
      delay(1h);
    });
  }
  const auto all = group.all();
  suspend();
  group.close();
  group.cancel();
  group.await_completion();
  EXPECT_EQ(begun, 1);
  try {
    await(all);
    ADD_FAILURE() << "everything was cancelled";
  } catch (const CompositeError& error) {
    ASSERT_EQ(error.errors().size(), 3u);
    for (const auto& each : error.errors()) EXPECT_EQ(message_of(each), "TaskGroup cancelled");
  }
}

MAIN_TEST_F(TaskGroupTest, CancelsATaskBeforeItsStart) {
  FERMATA_CHECKS("TG-03", "TG-10");
  TaskGroup<> group;
  group.spawn([] { FAIL() << "it was cancelled before"; });
  group.cancel();
  group.await_completion();
  EXPECT_EQ(group.errors().size(), 1u);
}

MAIN_TEST_F(TaskGroupTest, RunsItsFinallyHandlersOnceAtTheEnd) {
  FERMATA_CHECKS("TG-11");
  int calls = 0;
  TaskGroup<int> group;
  group.finally([&] { ++calls; });
  group.spawn([] { return 1; });
  await(group.all());
  delay(1ms);
  EXPECT_EQ(calls, 0) << "everything has settled, but it is open";
  group.spawn(after(1ms, 2));
  group.close();
  EXPECT_EQ(calls, 0);
  group.await_completion();
  suspend();
  suspend();
  EXPECT_EQ(calls, 1);
  group.finally([&] { ++calls; });
  EXPECT_EQ(calls, 2) << "at once";
}

TEST_F(TaskGroupTest, ReportsErrorsThatNobodyHasSeen) {
  FERMATA_CHECKS("TG-12");
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                {
                  TaskGroup<int> group;
                  group.spawn(failing_after(1ms, "unseen"));
                  delay(2ms);
                }
                EXPECT_THROW(delay(1h), Cancellation);
              });
            }).find("fermata::CompositeError"),
            0u);
  EXPECT_EQ(runtime.exit_errors().size(), 1u);
}

TEST_F(TaskGroupTest, ReportsErrorsAlsoWhenItsHomeIsGone) {
  FERMATA_CHECKS("TG-12");
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                std::optional<TaskGroup<int>> group;
                {
                  const Scope home = Scope::detached("home");
                  await(home.spawn([&] {
                    group.emplace();
                    group->spawn(failing_after(1ms, "unseen"));
                    delay(2ms);
                  }));
                  home.cancel();
                }
                group.reset();
              });
            }),
            "fermata::CompositeError: 1 error; unseen");
}

MAIN_TEST_F(TaskGroupTest, FailsATaskWhoseScopeTakesNoMore) {
  FERMATA_CHECKS("TG-18");
  const Scope scope = Scope::detached("workers");
  TaskGroup<int> group({.concurrency = 1, .scope = &scope});
  group.spawn(after(2ms, 1));
  group.spawn(after(0ms, 2));
  delay(1ms);
  scope.cancel({.started = StartedMembers::LetRun});
  delay(2ms);
  EXPECT_EQ(values_of(group.results()), (std::vector{1})) << "it runs to its end";
  const auto errors = group.errors();
  EXPECT_EQ(keys_of(errors), (std::vector<std::uint64_t>{1}));
}

TEST_F(TaskGroupTest, ReportsNoErrorThatSomebodyHasHandled) {
  FERMATA_CHECKS("TG-12");
  const std::vector<std::function<void(TaskGroup<int>&)>> ways = {
      [](auto& group) { EXPECT_EQ(group.errors().size(), 1u); },
      [](auto& group) { group.suppress_errors(); },
      [](auto& group) { EXPECT_THROW(await(group.all()), CompositeError); },
      [](auto& group) { EXPECT_THROW(await(group.race()), Error); },
      [](auto& group) { EXPECT_TRUE(group.cursor().next()->error); },
      [](auto& group) { group.cancel(); },
  };
  for (const auto& way : ways) {
    fixture.run([&] {
      {
        TaskGroup<int> group;
        group.spawn(failing_after(1ms, "seen"));
        delay(2ms);
        way(group);
      }
      delay(1ms);
    });
    EXPECT_TRUE(runtime.exit_errors().empty());
  }
}

TEST_F(TaskGroupTest, ReportsAnErrorThatComesAfterTheOthersWereSuppressed) {
  FERMATA_CHECKS("TG-13");
  EXPECT_NE(thrown_by([this] {
              fixture.run([] {
                {
                  TaskGroup<int> group;
                  group.spawn(failing_after(1ms, "early"));
                  delay(2ms);
                  group.suppress_errors();
                  group.spawn(failing_after(1ms, "late"));
                  delay(2ms);
                }
                EXPECT_THROW(delay(1h), Cancellation);
              });
            }),
            "");
}

MAIN_TEST_F(TaskGroupTest, IteratesInTheOrderOfCompletion) {
  FERMATA_CHECKS("TG-17");
  TaskGroup<int> group;
  const auto walk = [&] {
    std::vector<int> seen;
    auto cursor = group.cursor();
    while (const auto entry = cursor.next()) seen.push_back(entry->error ? -1 : *entry->value);
    return seen;
  };
  const auto one = spawn(walk);
  const auto two = spawn(walk);
  group.spawn(after(3ms, 3));
  group.spawn(after(1ms, 1));
  group.spawn(failing_after(2ms, "in between"));
  delay(5ms);
  EXPECT_FALSE(one->is_completed()) << "more may come";
  group.close();
  EXPECT_EQ(await(one), (std::vector{1, -1, 3}));
  EXPECT_EQ(await(two), (std::vector{1, -1, 3}));
  EXPECT_EQ(walk(), (std::vector{1, -1, 3})) << "late, the same";
}

MAIN_TEST_F(TaskGroupTest, EndsWhatRunsInItsOwnScope) {
  FERMATA_CHECKS("TG-18");
  std::string end;
  bool grandchild_ended = false;
  {
    TaskGroup<> group({.concurrency = 1});
    group.spawn([&] {
      spawn([&] {
        try {
          delay(1h);
        } catch (const Cancellation&) {
          grandchild_ended = true;
          throw;
        }
      });
      end = thrown_by([] { delay(1h); });
    });
    group.spawn([] { FAIL() << "it never starts"; });
    delay(1ms);
  }
  delay(1ms);
  EXPECT_EQ(end, "fermata::Cancellation: Scope is being disposed due to TaskGroup destruction");
  EXPECT_TRUE(grandchild_ended);
}

MAIN_TEST_F(TaskGroupTest, LeavesAnExternalScopeAlone) {
  FERMATA_CHECKS("TG-18");
  const Scope scope = Scope::detached("workers");
  int done = 0;
  {
    TaskGroup<> group({.concurrency = 1, .scope = &scope});
    for (int i = 0; i < 2; ++i) {
      group.spawn([&] {
        delay(1ms);
        ++done;
      });
    }
    suspend();
  }
  EXPECT_FALSE(scope.is_cancelled());
  scope.await_completion();
  delay(5ms);
  EXPECT_EQ(done, 2);
  scope.cancel();
  EXPECT_EQ(thrown_by([&] { const TaskGroup<> group({.scope = &scope}); }),
            "fermata::UsageError: TaskGroup: the scope is disposed: expected an open one");
}

}  // namespace
}  // namespace fermata::test
