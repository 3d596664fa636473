// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/task.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/task_group.hpp"
#include "fermata/sync/task_set.hpp"
#include "fermata/sync/timeout.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class TaskTest : public RuntimeFixture {};

Task<int> twice(int number) { co_return 2 * number; }

Task<int> sum_of(Future<int> a, Future<int> b) {
  const int first = co_await a;
  co_return first + co_await b;
}

// --- running ---

MAIN_TEST_F(TaskTest, RunsWhenItIsAwaitedAndNotBefore) {
  int runs = 0;
  const auto body = [&]() -> Task<int> {
    ++runs;
    co_return 7;
  };
  Task<int> task = body();
  suspend();
  EXPECT_EQ(runs, 0);
  EXPECT_TRUE(task);
  EXPECT_EQ(await(std::move(task)), 7);
  EXPECT_EQ(runs, 1);
}

/// Can be moved, and nothing else.
struct Parcel {
  explicit Parcel(int number) : content(std::make_unique<int>(number)) {}
  std::unique_ptr<int> content;
};

MAIN_TEST_F(TaskTest, ReturnsAnyValue) {
  const auto parcel = []() -> Task<Parcel> { co_return Parcel(3); };
  EXPECT_EQ(*await(parcel()).content, 3);
  const auto text = []() -> Task<std::string> { co_return "converted"; };
  EXPECT_EQ(await(text()), "converted");
  const auto numbers = []() -> Task<std::vector<int>> { co_return {1, 2, 3}; };
  EXPECT_EQ(await(numbers()), (std::vector<int>{1, 2, 3}));
  const auto nothing = []() -> Task<> { co_return; };
  static_assert(std::is_void_v<decltype(await(nothing()))>);
  await(nothing());
}

MAIN_TEST_F(TaskTest, AwaitsWhatACoroutineAwaits) {
  Promise<int> a;
  Promise<int> b;
  const auto sum = spawn(sum_of(a.future(), b.future()));
  suspend();
  EXPECT_FALSE(sum->is_completed());
  a.complete(1);
  b.complete(2);
  EXPECT_EQ(await(sum), 3);
}

MAIN_TEST_F(TaskTest, GivesTheSameAsAwait) {
  Promise<int> promise;
  const Future<int> future = promise.future();
  promise.complete(1);
  Promise<std::unique_ptr<int>> parcel;
  parcel.complete(std::make_unique<int>(2));
  const auto body = [&]() -> Task<> {
    decltype(auto) shared = co_await future;
    static_assert(std::is_same_v<decltype(shared), const int&>);
    EXPECT_EQ(&shared, &await(future)) << "shared, not copied";
    const std::unique_ptr<int> taken = co_await parcel.future();
    EXPECT_EQ(*taken, 2) << "nobody else keeps it";
    EXPECT_EQ(co_await spawn([] { return 3; }), 3);
  };
  await(body());
}

MAIN_TEST_F(TaskTest, WaitsForEvents) {
  Timer timer(current_runtime(), 5ms);
  const auto event = make_event<PlainEvent>(current_runtime());
  const Instant before = now();
  const auto body = [&]() -> Task<> {
    co_await timer;
    EXPECT_EQ(now() - before, 5ms);
    co_await *event;
  };
  const auto waiter = spawn("waiter", body());
  delay(10ms);
  EXPECT_FALSE(waiter->is_completed());
  event->complete({});
  await(waiter);
}

MAIN_TEST_F(TaskTest, RunsOtherTasksInTheSameCoroutine) {
  const auto carrier = current_coroutine().id();
  const auto inner = [&]() -> Task<std::uint64_t> {
    co_await fermata::after(1ms);
    co_return current_coroutine().id();
  };
  const auto outer = [&]() -> Task<> {
    EXPECT_EQ(co_await inner(), carrier);
    Task<std::uint64_t> kept = inner();
    EXPECT_EQ(co_await std::move(kept), carrier);
    EXPECT_EQ(await(inner()), carrier) << "a plain call, on the carrier's stack";
  };
  await(outer());
}

MAIN_TEST_F(TaskTest, WaitsInPlainCallsAlsoWhileItHandlesAnError) {
  const auto body = [&]() -> Task<int> {
    try {
      co_await operation([] { throw Error("broken"); });
    } catch (const Error&) {
      delay(1ms);
    }
    co_return await(twice(4));
  };
  EXPECT_EQ(await(body()), 8);
}

Task<std::size_t> depth_of(std::size_t more, char** lowest) {
  char here = 0;
  *lowest = std::min(*lowest, &here);
  if (more == 0) co_return 0;
  co_return 1 + co_await depth_of(more - 1, lowest);
}

MAIN_TEST_F(TaskTest, NeedsNoMoreStackForALongChain) {
  const auto chain = spawn("deep", [] {
    char* lowest = reinterpret_cast<char*>(~std::uintptr_t{0});
    EXPECT_EQ(await(depth_of(200'000, &lowest)), 200'000u);
  });
  await(chain);
}

Task<> fails_below(std::size_t more) {
  if (more == 0) throw Error("at the bottom");
  co_await fails_below(more - 1);
}

MAIN_TEST_F(TaskTest, CarriesAnErrorThroughALongChain) {
  const auto chain = spawn("deep", [] { await(fails_below(20'000)); });
  EXPECT_EQ(thrown_by([&] { await(chain); }), "fermata::Error: at the bottom");
}

MAIN_TEST_F(TaskTest, ThrowsTheErrorOfWhatItAwaits) {
  Promise<int> promise;
  promise.fail(std::make_exception_ptr(Error("disk on fire")));
  const auto inner = [&]() -> Task<int> { co_return co_await promise.future(); };
  const auto outer = [&]() -> Task<std::string> {
    co_return thrown_by([&] { static_cast<void>(await(inner())); }) + "; " +
        [] { return std::string("and on"); }();
  };
  EXPECT_EQ(await(outer()), "fermata::Error: disk on fire; and on");
  const auto passes_on = [&]() -> Task<int> { co_return co_await inner(); };
  EXPECT_EQ(thrown_by([&] { await(passes_on()); }), "fermata::Error: disk on fire");
}

// --- operations ---

MAIN_TEST_F(TaskTest, CallsOperations) {
  const Channel<int> numbers("numbers", 2);
  const auto body = [&]() -> Task<int> {
    int sum = 0;
    while (const std::optional<int> number = co_await receive(numbers)) sum += *number;
    co_return sum;
  };
  const auto reader = spawn("reader", body());
  const Instant before = now();
  const auto writer = [&]() -> Task<> {
    for (int i = 1; i <= 4; ++i) {
      co_await fermata::after(1ms);
      co_await operation([&] { numbers.send(i); });
    }
    numbers.close();
  };
  await(writer());
  EXPECT_EQ(now() - before, 4ms);
  EXPECT_EQ(await(reader), 10);
}

MAIN_TEST_F(TaskTest, TakesOptionsInOperations) {
  const Channel<int> silent("silent", 0);
  const Future<int> never = Promise<int>().ignore().future();
  const auto body = [&]() -> Task<> {
    static_cast<void>(co_await receive(silent, {.timeout = 5ms}));
  };
  EXPECT_THROW(await(body()), Timeout);
  const auto token = make_timeout(5ms);
  const auto other = [&]() -> Task<> {
    co_await operation([&] { static_cast<void>(silent.recv({.token = token.get()})); });
  };
  EXPECT_THROW(await(other()), OperationCancelled);
}

MAIN_TEST_F(TaskTest, ReturnsWhatAnOperationReturns) {
  int number = 1;
  const auto body = [&]() -> Task<> {
    int& same = co_await operation([&]() -> int& { return number; });
    EXPECT_EQ(&same, &number);
    auto keeper = [kept = std::make_unique<int>(5)]() mutable {
      suspend();
      return std::move(kept);
    };
    EXPECT_EQ(*co_await operation(keeper), 5);
    const std::function<int()> function = [&] { return number; };
    EXPECT_EQ(co_await operation(function), 1);
  };
  await(body());
}

// --- as a body ---

MAIN_TEST_F(TaskTest, IsABodyOfACoroutine) {
  static_assert(std::is_same_v<decltype(spawn(twice(1))), Coroutine<int>>);
  EXPECT_EQ(await(spawn(twice(1))), 2);
  EXPECT_EQ(await(spawn("named", twice(2))), 4);
  const auto urgent = spawn({.name = "urgent", .priority = Priority::High}, twice(3));
  EXPECT_EQ(urgent->name(), "urgent");
  EXPECT_EQ(urgent->priority(), Priority::High);
  EXPECT_EQ(await(urgent), 6);
  Scope scope("mine");
  const auto member = scope.spawn("member", twice(4));
  EXPECT_EQ(&member->scope(), &*scope);
  EXPECT_EQ(await(member), 8);
}

MAIN_TEST_F(TaskTest, IsRunWhenABodyReturnsIt) {
  const std::string text = "a word that lives on the heap";
  const auto length = spawn("length", [copy = text]() -> Task<std::size_t> {
    co_await fermata::after(1ms);
    co_return copy.size();
  });
  static_assert(std::is_same_v<decltype(length), const Coroutine<std::size_t>>);
  EXPECT_EQ(await(length), text.size()) << "the coroutine keeps the lambda and its copies";
  TaskGroup<int> group("squares");
  group.spawn(twice(1));
  group.spawn([]() -> Task<int> { co_return 3; });
  group.close();
  EXPECT_EQ(await(group.all()).size(), 2u);
  TaskSet<void> set("set");
  int runs = 0;
  set.spawn([&]() -> Task<> {
    ++runs;
    co_return;
  });
  set.close();
  set.await_completion();
  EXPECT_EQ(runs, 1);
}

TEST_F(TaskTest, IsAMainFunction) {
  EXPECT_EQ(fixture.run([]() -> Task<int> {
    co_await fermata::after(1ms);
    co_return 3;
  }),
            3);
  EXPECT_EQ(fixture.run(twice(2)), 4);
  int runs = 0;
  EXPECT_EQ(fixture.run([&]() -> Task<> {
    ++runs;
    co_return;
  }),
            0);
  EXPECT_EQ(runs, 1);
}

MAIN_TEST_F(TaskTest, ShowsWhereItWaits) {
  const Future<int> never = Promise<int>().ignore().future();
  Promise<> promise;
  const Future<> future = promise.future();
  int line = 0;
  const auto body = [&]() -> Task<> {
    line = __LINE__ + 1;
    co_await future;
    line = __LINE__ + 1;
    co_await fermata::after(1h);
  };
  const auto waiter = spawn("waiter", body());
  suspend();
  ASSERT_NE(waiter->suspend_place(), nullptr);
  EXPECT_EQ(waiter->suspend_place()->line, line);
  EXPECT_EQ(waiter->suspend_place()->in_short(), "task_test.cpp:" + std::to_string(line));
  EXPECT_EQ(waiter->awaiting(), std::vector<std::string>{future.event().info()});
  promise.complete();
  suspend();
  suspend();
  ASSERT_NE(waiter->suspend_place(), nullptr);
  EXPECT_EQ(waiter->suspend_place()->line, line);
  waiter.cancel();
}

// --- wrong use ---

constexpr const char* kUsed =
    ": an empty Task: expected one that was not awaited, spawned or moved from before";

MAIN_TEST_F(TaskTest, IsAwaitedOnce) {
  Task<int> task = twice(1);
  EXPECT_EQ(await(std::move(task)), 2);
  EXPECT_FALSE(task);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(thrown_by([&] { await(std::move(task)); }),
            std::string("fermata::UsageError: await") + kUsed);
  EXPECT_EQ(thrown_by([&] { task(); }), std::string("fermata::UsageError: Task") + kUsed);
  EXPECT_EQ(thrown_by([&] { static_cast<void>(spawn(std::move(task))); }),
            std::string("fermata::UsageError: spawn") + kUsed);
  TaskSet<int> set("set");
  EXPECT_EQ(thrown_by([&] { set.spawn(std::move(task)); }),
            std::string("fermata::UsageError: spawn") + kUsed);
  EXPECT_EQ(set.count(), 0u);
  const auto body = [&]() -> Task<int> { co_return co_await std::move(task); };
  EXPECT_EQ(thrown_by([&] { await(body()); }),
            std::string("fermata::UsageError: co_await") + kUsed);
  EXPECT_EQ(await(spawn([] { return 1; })), 1) << "nothing is left behind";
}

MAIN_TEST_F(TaskTest, CannotAwaitItself) {
  std::optional<Task<int>> self;
  const auto body = [&]() -> Task<int> { co_return co_await std::move(*self); };
  self.emplace(body());
  EXPECT_EQ(thrown_by([&] { await(std::move(*self)); }),
            std::string("fermata::UsageError: co_await") + kUsed);
}

TEST_F(TaskTest, IsAwaitedInCoroutinesOnly) {
  EXPECT_EQ(thrown_by([] { await(twice(1)); }),
            "fermata::UsageError: await: a Task is run outside of a coroutine: expected a call "
            "inside Runtime::run");
  Task<int> task = twice(1);
  EXPECT_EQ(thrown_by([&] { task(); }),
            "fermata::UsageError: Task: a Task is run outside of a coroutine: expected a call "
            "inside Runtime::run");
  EXPECT_TRUE(task) << "it is as it was";
  fixture.reactor->on_turn = [&] {
    const std::string refused = thrown_by([&] { await(std::move(task)); });
    EXPECT_EQ(refused.rfind("fermata::UsageError: await: ", 0), 0u) << refused;
  };
  fixture.run([&] {
    delay(1ms);
    fixture.reactor->on_turn = nullptr;
    EXPECT_EQ(await(std::move(task)), 2);
  });
}

MAIN_TEST_F(TaskTest, RefusesWhatIsEmpty) {
  const auto body = []() -> Task<> { co_await Future<int>(); };
  EXPECT_EQ(
      thrown_by([&] { await(body()); }),
      "fermata::UsageError: co_await: an empty handle: expected one that refers to something");
  const auto no_coroutine = []() -> Task<> { co_await Coroutine<>(); };
  EXPECT_EQ(
      thrown_by([&] { await(no_coroutine()); }),
      "fermata::UsageError: co_await: an empty handle: expected one that refers to something");
  const std::function<int()> nothing;
  EXPECT_EQ(thrown_by([&] { static_cast<void>(operation(nothing)); }),
            "fermata::UsageError: operation: an empty function: expected one to call");
  EXPECT_EQ(thrown_by([] { static_cast<void>(operation(static_cast<void (*)()>(nullptr))); }),
            "fermata::UsageError: operation: an empty function: expected one to call");
  EXPECT_EQ(thrown_by([] { static_cast<void>(receive(Channel<int>())); }),
            "fermata::UsageError: receive: an empty handle: expected a channel");
  EXPECT_EQ(thrown_by([] { static_cast<void>(fermata::after(-1ns)); }),
            "fermata::UsageError: after: a span of -1 ns: expected zero or more");
}

}  // namespace
}  // namespace fermata::test
