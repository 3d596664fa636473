// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/sync/await_all.hpp"

#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/scope.hpp"
#include "fermata/runtime/core/spawn.hpp"
#include "fermata/runtime/sync/await.hpp"
#include "fermata/runtime/sync/timeout.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// Gives `value` after `span`.
Coroutine<int> value_after(Duration span, int value) {
  return spawn([=] {
    delay(span);
    return value;
  });
}

Coroutine<int> failure_after(Duration span, std::string what) {
  return spawn([=]() -> int {
    delay(span);
    throw Error(what);
  });
}

/// "0=10 2=30"
template <class K, class V>
std::string text_of(const Keyed<K, V>& keyed) {
  std::string text;
  const auto word = [](const auto& part) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
      return std::to_string(part);
    } else if constexpr (std::is_same_v<std::decay_t<decltype(part)>, std::exception_ptr>) {
      return message_of(part);
    } else {
      return part;
    }
  };
  for (const auto& [key, value] : keyed) {
    if (!text.empty()) text += " ";
    text += word(key) + "=" + word(value);
  }
  return text;
}

class AwaitAllTest : public ::testing::Test {
 protected:
  /// How many ticks `action` takes.
  template <class Action>
  std::uint64_t ticks_of(Action action) {
    const auto before = runtime.metrics().ticks;
    action();
    return runtime.metrics().ticks - before;
  }

  TestRuntime fixture;
  Runtime& runtime = fixture.runtime;
};

TEST_F(AwaitAllTest, GivesValuesAndErrorsInTheOrderOfCompletion) {
  FERMATA_CHECKS("CORE-AW-01", "CORE-AW-03", "CORE-AW-11");
  fixture.run([] {
    const std::vector tasks{value_after(30ms, 3), failure_after(20ms, "two"), value_after(10ms, 1),
                            failure_after(40ms, "four")};
    const auto [values, errors] = await_all(tasks);
    EXPECT_EQ(text_of(values), "2=1 0=3");
    EXPECT_EQ(text_of(errors), "1=two 3=four");
    EXPECT_EQ(values.find(1), nullptr) << "what failed has no value";
    EXPECT_EQ(values.at(2), 1);
    EXPECT_THROW(static_cast<void>(values.at(3)), UsageError);
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

TEST_F(AwaitAllTest, GivesThemInTheOrderOfTheItemsWhenAsked) {
  FERMATA_CHECKS("CORE-AW-09");
  fixture.run([] {
    const std::vector tasks{value_after(30ms, 3), failure_after(40ms, "four"),
                            failure_after(20ms, "two"), value_after(10ms, 1)};
    const auto [values, errors] = await_all(tasks, {.preserve_order = true});
    EXPECT_EQ(text_of(values), "0=3 3=1");
    EXPECT_EQ(text_of(errors), "1=four 2=two");
  });
}

TEST_F(AwaitAllTest, KeepsTheKeysOfAMap) {
  FERMATA_CHECKS("CORE-AW-09");
  fixture.run([] {
    std::map<std::string, Coroutine<int>> tasks;
    tasks.emplace("slow", value_after(20ms, 2));
    tasks.emplace("fast", value_after(10ms, 1));
    EXPECT_EQ(text_of(await_all(tasks).values), "fast=1 slow=2");
    EXPECT_EQ(text_of(await_all_or_fail(tasks)), "fast=1 slow=2");
    tasks.emplace("bad", failure_after(1ms, "no"));
    EXPECT_EQ(text_of(await_all(tasks).errors), "bad=no");
  });
}

TEST_F(AwaitAllTest, TakesEveryKindOfContainer) {
  fixture.run([] {
    const auto one = value_after(2ms, 1);
    const auto two = value_after(1ms, 2);
    const std::vector expected{1, 2};
    EXPECT_EQ(await_all_or_fail({one, two}), expected);
    EXPECT_EQ(await_all_or_fail(std::array{one, two}), expected);
    const std::vector both{one, two};
    EXPECT_EQ(await_all_or_fail(std::span(both)), expected);
    const auto owned = spawn([] { return std::make_unique<int>(7); });
    EXPECT_EQ(*await_all_or_fail({owned}).front(), 7) << "moved out";
    bool ended = false;
    await_all_or_fail({spawn([&] { ended = true; })});
    EXPECT_TRUE(ended);
    EXPECT_EQ(await_all({spawn([] {})}).values.size(), 1u);
  });
}

TEST_F(AwaitAllTest, ThrowsTheFirstErrorByTime) {
  FERMATA_CHECKS("CORE-AW-02", "CORE-AW-08");
  std::string unhandled = thrown_by([&] {
    fixture.run([] {
      const Instant start = now();
      const auto later = failure_after(30ms, "later");
      EXPECT_EQ(thrown_by([&] {
                  await_all_or_fail({value_after(10ms, 1), later, failure_after(20ms, "first")});
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

TEST_F(AwaitAllTest, LooksAtEndedItemsInTheirOrderWithoutSuspending) {
  FERMATA_CHECKS("CORE-AW-02", "CORE-AW-06");
  fixture.run([this] {
    const std::vector tasks{value_after(3ms, 0), failure_after(2ms, "one"),
                            failure_after(1ms, "two")};
    delay(1s);
    EXPECT_EQ(ticks_of([&] {
                EXPECT_EQ(thrown_by([&] { await_all_or_fail(tasks); }), "fermata::Error: one");
                EXPECT_EQ(await_any_or_fail(tasks), 0);
                EXPECT_EQ(text_of(await_all(tasks).errors), "1=one 2=two");
                EXPECT_EQ(text_of(await_any_of(1, tasks).errors), "") << "settled by the first";
              }),
              0u);
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

TEST_F(AwaitAllTest, GivesTheFirstThatEnds) {
  fixture.run([] {
    EXPECT_EQ(await_any_or_fail({value_after(20ms, 2), value_after(10ms, 1)}), 1);
    EXPECT_EQ(thrown_by([] {
                await_any_or_fail({value_after(20ms, 2), failure_after(10ms, "one")});
              }),
              "fermata::Error: one");
  });
}

TEST_F(AwaitAllTest, GivesTheFirstThatSucceedsWithTheErrorsSoFar) {
  FERMATA_CHECKS("CORE-AW-01", "CORE-AW-08");
  fixture.run([] {
    const auto some = await_first_success(
        {failure_after(10ms, "one"), value_after(20ms, 2), value_after(30ms, 3)});
    EXPECT_EQ(some.value, 2);
    EXPECT_EQ(text_of(some.errors), "0=one");
    const auto none = await_first_success({failure_after(10ms, "one"), failure_after(5ms, "two")});
    EXPECT_EQ(none.value, std::nullopt);
    EXPECT_EQ(text_of(none.errors), "1=two 0=one");
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

TEST_F(AwaitAllTest, GivesAsManyAsAreAskedFor) {
  FERMATA_CHECKS("CORE-AW-04");
  fixture.run([] {
    const auto tasks = [] {
      return std::vector{value_after(30ms, 3), failure_after(5ms, "no"), value_after(10ms, 1),
                         value_after(20ms, 2)};
    };
    EXPECT_EQ(text_of(await_any_of(1, tasks()).values), "2=1");
    EXPECT_EQ(text_of(await_any_of(2, tasks()).values), "2=1 3=2");
    EXPECT_EQ(text_of(await_any_of(3, tasks()).values), "2=1 3=2 0=3");
    const auto all = await_any_of(4, tasks());
    EXPECT_EQ(text_of(all.values), "2=1 3=2 0=3") << "fewer than asked for: all have ended";
    EXPECT_EQ(text_of(all.errors), "1=no");
    EXPECT_EQ(await_any_of(0, tasks()).values.size(), 3u) << "all";
    EXPECT_EQ(await_any_of(-1, tasks()).values.size(), 3u);
  });
}

TEST_F(AwaitAllTest, GivesAsManyAsAreAskedForOrFails) {
  FERMATA_CHECKS("CORE-AW-04");
  fixture.run([this] {
    const std::vector tasks{value_after(30ms, 3), value_after(10ms, 1), value_after(20ms, 2)};
    EXPECT_EQ(ticks_of([&] { EXPECT_TRUE(await_any_of_or_fail(0, tasks).empty()); }), 0u);
    EXPECT_EQ(text_of(await_any_of_or_fail(2, tasks)), "1=1 2=2");
    EXPECT_EQ(text_of(await_any_of_or_fail(9, tasks)), "1=1 2=2 0=3") << "ended ones: asked again";
    EXPECT_THROW(await_any_of_or_fail(2, {value_after(1ms, 1), failure_after(2ms, "no")}), Error);
    EXPECT_EQ(text_of(await_any_of_or_fail(2, tasks, {.preserve_order = true})), "0=3 1=1");
  });
}

TEST_F(AwaitAllTest, ReturnsAtOnceWhenThereIsNothing) {
  FERMATA_CHECKS("CORE-AW-10");
  fixture.run([this] {
    const std::vector<Coroutine<int>> none;
    EXPECT_EQ(ticks_of([&] {
                EXPECT_TRUE(await_all(none).values.empty());
                EXPECT_TRUE(await_all_or_fail(none).empty());
                EXPECT_EQ(await_any_or_fail(none), std::nullopt);
                EXPECT_EQ(await_first_success(none).value, std::nullopt);
                EXPECT_TRUE(await_any_of(3, none).values.empty());
                EXPECT_TRUE(await_any_of_or_fail(3, none).empty());
              }),
              0u);
  });
}

TEST_F(AwaitAllTest, SettlesOnceAndForAll) {
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
                EXPECT_EQ(text_of(await_any_of_or_fail(1, tasks)), "0=1");
                suspend();
                EXPECT_TRUE(tasks.back()->is_completed());
                EXPECT_FALSE(tasks.back()->exception_caught()) << "not seen";
                tasks.clear();
                EXPECT_THROW(suspend(), Cancellation);
              });
            }),
            "fermata::Error: after the settlement");
}

TEST_F(AwaitAllTest, FillsEveryKeyOfAnItem) {
  FERMATA_CHECKS("CORE-AW-03", "CORE-AW-05");
  fixture.run([] {
    const auto one = value_after(10ms, 1);
    const auto bad = failure_after(5ms, "no");
    const auto [values, errors] = await_all({one, bad, one, bad});
    EXPECT_EQ(text_of(values), "0=1 2=1");
    EXPECT_EQ(text_of(errors), "1=no 3=no");
    EXPECT_EQ(one->callbacks().size(), 0u);
  });
}

TEST_F(AwaitAllTest, RefusesWhatCannotBeWaitedFor) {
  fixture.run([this] {
    const auto good = value_after(1ms, 1);
    EXPECT_EQ(thrown_by([&] {
                await_all({good, Coroutine<int>()});
              }),
              "fermata::UsageError: await_all: item 1 refers to nothing: expected something to "
              "wait for");
    EXPECT_FALSE(good->callbacks().size() > 0);
    Coroutine<> self;
    self = spawn([&] {
      EXPECT_EQ(thrown_by([&] { await_any_or_fail({self}); }),
                "fermata::UsageError: await_any_or_fail: item 0 is the current coroutine, which "
                "cannot await itself");
    });
    await(self);
    const auto dead = make_event<PlainEvent>(runtime);
    dead->close();
    EXPECT_EQ(thrown_by([&] { await_all({dead}); }),
              "fermata::UsageError: await_all: item 0 is closed and keeps no outcome");
    EXPECT_THROW(await_all({good}, {.timeout = -1ns}), UsageError);
    await(good);
  });
}

TEST_F(AwaitAllTest, WaitsForPlainEvents) {
  FERMATA_CHECKS("CORE-AW-05");
  fixture.run([this] {
    const auto plain = make_event<PlainEvent>(runtime);
    Timer timer(runtime, 10ms);
    Timer periodic(runtime, 3ms, TimerMode::Periodic);
    const auto limit = make_timeout(20ms);
    const auto completer = spawn([&] {
      delay(5ms);
      plain->complete({nullptr, std::make_exception_ptr(Error("plain"))});
    });
    const Instant start = now();
    const auto [values, errors] =
        await_all(std::vector<Event*>{plain.get(), &timer, &periodic, limit.get()});
    EXPECT_EQ(now() - start, 20ms);
    EXPECT_EQ(values.size(), 2u);
    EXPECT_TRUE(values.contains(1) && values.contains(2));
    EXPECT_EQ(text_of(errors), "0=plain 3=Timeout occurred after 20 milliseconds");
    EXPECT_EQ(periodic.loop_ref_count(), 0u) << "it has answered, and is not armed any more";
    EXPECT_EQ(periodic.callbacks().size(), 0u);
    EXPECT_EQ(runtime.active_event_count(), 0u);
  });
}

TEST_F(AwaitAllTest, LeavesTheOthersWaitForASharedEventAlone) {
  FERMATA_CHECKS("CORE-AW-05", "CORE-WK-05");
  fixture.run([this] {
    Timer shared(runtime, 20ms);
    const auto other = spawn([&] { wait(shared); });
    Timer first(runtime, 10ms);
    await_any_or_fail(std::vector<Event*>{&shared, &first});
    EXPECT_EQ(shared.loop_ref_count(), 1u) << "the other's";
    EXPECT_EQ(shared.callbacks().size(), 1u);
    await(other);
  });
}

TEST_F(AwaitAllTest, StopsWhatItStartedWhenAStartFails) {
  FERMATA_CHECKS("CORE-AW-05", "CORE-WK-15");
  fixture.run([this] {
    const auto good = make_event<BackendEvent>(runtime);
    const auto bad = make_event<BackendEvent>(runtime);
    bad->on_arm = [] { throw Error("no backend"); };
    const auto later = make_event<BackendEvent>(runtime);
    EXPECT_EQ(thrown_by([&] { await_all({good, bad, later}); }), "fermata::Error: no backend");
    EXPECT_EQ(good->armed, 1);
    EXPECT_EQ(good->disarmed, 1);
    for (const auto& event : {good, bad, later}) {
      EXPECT_EQ(event->callbacks().size(), 0u);
      EXPECT_EQ(event->loop_ref_count(), 0u);
    }
    EXPECT_EQ(later->armed, 0);
    suspend();
  });
}

TEST_F(AwaitAllTest, EndsWithoutSuspendingWhenAnItemFiresAsItIsArmed) {
  FERMATA_CHECKS("CORE-AW-05");
  fixture.run([this] {
    const auto quick = make_event<BackendEvent>(runtime);
    quick->on_arm = [&] { quick->notify({}); };
    const auto later = make_event<BackendEvent>(runtime);
    EXPECT_EQ(ticks_of([&] { await_any_or_fail({quick, later}); }), 0u);
    EXPECT_EQ(later->armed, 0) << "the wait was over";
    EXPECT_EQ(quick->loop_ref_count(), 0u);
    EXPECT_EQ(quick->callbacks().size() + later->callbacks().size(), 0u);
  });
}

TEST_F(AwaitAllTest, LooksAtTheTokenFirst) {
  FERMATA_CHECKS("CORE-AW-07");
  fixture.run([this] {
    const auto one = value_after(1ms, 1);
    const auto token = spawn([]() -> int { throw Error("stop"); });
    delay(5ms);
    EXPECT_EQ(thrown_by([&] { await_all({one}, {.token = &token.event()}); }),
              "fermata::OperationCanceled: Operation has been cancelled\n"
              "  previous: fermata::Error: stop");
    EXPECT_EQ(await(one, {{}, &token.event()}), 1) << "await gives what is there";
    EXPECT_TRUE(token->exception_caught());
    EXPECT_EQ(runtime.active_event_count(), 0u);
  });
}

TEST_F(AwaitAllTest, EndsWhenItsTokenFiresAndLeavesTheItems) {
  FERMATA_CHECKS("CORE-AW-05", "CORE-AW-07", "CORE-CN-03");
  fixture.run([] {
    const auto slow = value_after(20ms, 2);
    const auto token = value_after(10ms, 0);
    EXPECT_THROW(await_all({slow}, {.token = &token.event()}), OperationCanceled);
    EXPECT_EQ(slow->callbacks().size(), 0u);
    EXPECT_EQ(await(slow), 2);
  });
}

TEST_F(AwaitAllTest, EndsAtItsTimeout) {
  fixture.run([this] {
    const auto slow = value_after(20ms, 2);
    const auto fast = value_after(0ms, 1);
    EXPECT_EQ(ticks_of([&] {
                EXPECT_THROW(await_all({slow, fast}, {.timeout = 0ms}), Timeout);
              }),
              0u);
    EXPECT_THROW(await_all({slow, fast}, {.timeout = 10ms}), Timeout);
    EXPECT_EQ(await_any_or_fail({slow, fast}, {.timeout = 0ms}), 1);
    EXPECT_EQ(text_of(await_all({slow, fast}, {.timeout = 1s}).values), "1=1 0=2");
  });
}

TEST_F(AwaitAllTest, LeavesNoSubscriberWhenTheWaiterIsCancelled) {
  FERMATA_CHECKS("CORE-AW-05", "CORE-AW-08");
  EXPECT_EQ(thrown_by([this] {
              fixture.run([this] {
                Timer timer(runtime, 1h);
                auto failed = failure_after(5ms, "nobody's");
                const auto never = make_event<PlainEvent>(runtime);
                const auto waiter = spawn([&] {
                  await_all(std::vector<Event*>{&timer, &failed.event(), never.get()});
                });
                delay(10ms);
                EXPECT_EQ(runtime.active_event_count(), 1u);
                waiter.cancel();
                EXPECT_THROW(await(waiter), Cancellation);
                EXPECT_EQ(timer.callbacks().size() + never->callbacks().size(), 0u);
                EXPECT_EQ(runtime.active_event_count(), 0u);
                EXPECT_FALSE(failed->exception_caught()) << "it was never delivered";
                failed = {};
                EXPECT_THROW(suspend(), Cancellation);
              });
            }),
            "fermata::Error: nobody's");
}

TEST_F(AwaitAllTest, LosesNoErrorWhenTheWaiterIsCancelledBeforeItRuns) {
  FERMATA_CHECKS("CORE-AW-08", "CORE-CO-10");
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto failed = failure_after(5ms, "not delivered");
                const auto waiter = spawn([&] { await_all_or_fail({failed}); });
                suspend();
                const auto canceller =
                    subscribe(failed.event(), [&](Event&, const Outcome&) { waiter.cancel(); });
                EXPECT_THROW(await(waiter), Cancellation);
              });
            }),
            "fermata::Error: not delivered");
}

TEST_F(AwaitAllTest, JoinsWhatIsLeft) {
  fixture.run([] {
    const Instant start = now();
    const auto slow = value_after(20ms, 2);
    const auto bad = failure_after(30ms, "late");
    const auto [values, errors] =
        await_any_of(1, {value_after(10ms, 1), slow, bad}, {.on_exit = ExitPolicy::Join});
    EXPECT_EQ(now() - start, 30ms);
    EXPECT_EQ(text_of(values), "0=1") << "as it was settled";
    EXPECT_EQ(text_of(errors), "2=late") << "owned by the policy";
    EXPECT_TRUE(bad->exception_caught());
    const auto other = value_after(20ms, 2);
    EXPECT_THROW(
        await_all_or_fail({failure_after(1ms, "no"), other}, {.on_exit = ExitPolicy::Join}), Error);
    EXPECT_TRUE(other->is_completed());
  });
}

TEST_F(AwaitAllTest, StopsJoiningWhenItsTokenOrTimeoutSaysSo) {
  fixture.run([] {
    const Instant start = now();
    const auto slow = value_after(1s, 2);
    const auto token = value_after(20ms, 0);
    EXPECT_THROW(await_any_or_fail({value_after(10ms, 1), slow},
                                   {.token = &token.event(), .on_exit = ExitPolicy::Join}),
                 OperationCanceled);
    EXPECT_EQ(now() - start, 20ms);
    EXPECT_THROW(await_all_or_fail({failure_after(5ms, "no"), slow},
                                   {.timeout = 10ms, .on_exit = ExitPolicy::Join}),
                 Error)
        << "the failure is what matters";
    EXPECT_EQ(now() - start, 30ms);
    EXPECT_THROW(await_all({slow}, {.timeout = 10ms, .on_exit = ExitPolicy::Join}), Timeout);
    EXPECT_EQ(now() - start, 40ms);
  });
}

TEST_F(AwaitAllTest, JoinsAfterACancellationOfTheWaiter) {
  fixture.run([] {
    const auto slow = value_after(20ms, 2);
    const auto waiter = spawn([&] { await_all({slow}, {.on_exit = ExitPolicy::Join}); });
    delay(1ms);
    waiter.cancel();
    delay(1ms);
    EXPECT_FALSE(waiter->is_completed());
    EXPECT_THROW(await(waiter), Cancellation);
    EXPECT_TRUE(slow->is_completed());
    const auto slower = value_after(20ms, 2);
    const auto impatient = spawn([&] { await_all({slower}, {.on_exit = ExitPolicy::Join}); });
    delay(1ms);
    impatient.cancel(std::make_exception_ptr(Cancellation("first")));
    delay(1ms);
    impatient.cancel(std::make_exception_ptr(Cancellation("second")));
    EXPECT_EQ(thrown_by([&] { await(impatient); }),
              "fermata::Cancellation: second\n  previous: fermata::Cancellation: first");
    EXPECT_FALSE(slower->is_completed());
  });
}

TEST_F(AwaitAllTest, CancelsWhatIsLeftAndJoinsIt) {
  FERMATA_CHECKS("CORE-AW-12");
  fixture.run([] {
    const Instant start = now();
    const auto slow = value_after(1h, 2);
    const auto stubborn = spawn([]() -> int {
      try {
        delay(1h);
      } catch (const Cancellation&) {
        delay(5ms);
        throw Error("while cleaning up");
      }
      return 0;
    });
    const auto [values, errors] = await_any_of(1, {value_after(10ms, 1), slow, stubborn},
                                               {.on_exit = ExitPolicy::CancelAndJoin});
    EXPECT_EQ(now() - start, 15ms);
    EXPECT_TRUE(slow->is_cancelled());
    EXPECT_TRUE(stubborn->is_completed());
    EXPECT_EQ(text_of(values), "0=1");
    EXPECT_EQ(text_of(errors), "2=while cleaning up") << "not the cancellation that we caused";
  });
}

TEST_F(AwaitAllTest, CancelsAndJoinsHoweverTheWaitEnds) {
  FERMATA_CHECKS("CORE-AW-12", "CORE-CO-06");
  fixture.run([] {
    const AwaitOptions options{.timeout = 10ms, .on_exit = ExitPolicy::CancelAndJoin};
    const auto timed_out = value_after(1h, 0);
    EXPECT_THROW(await_all({timed_out}, options), Timeout);
    EXPECT_TRUE(timed_out->is_completed());
    const auto sibling = value_after(1h, 0);
    EXPECT_EQ(thrown_by([&] {
                await_all_or_fail({sibling, failure_after(1ms, "no")}, options);
              }),
              "fermata::Error: no");
    EXPECT_TRUE(sibling->is_completed());

    const auto reluctant = spawn([] {
      try {
        delay(1h);
      } catch (const Cancellation&) {
        protect([] { delay(20ms); });
        throw;
      }
    });
    const auto waiter =
        spawn([&] { await_all({reluctant}, {.on_exit = ExitPolicy::CancelAndJoin}); });
    delay(1ms);
    waiter.cancel(std::make_exception_ptr(Cancellation("first")));
    delay(1ms);
    waiter.cancel(std::make_exception_ptr(Cancellation("second")));
    delay(1ms);
    EXPECT_FALSE(waiter->is_completed()) << "come what may";
    EXPECT_EQ(thrown_by([&] { await(waiter); }),
              "fermata::Cancellation: second\n  previous: fermata::Cancellation: first");
    EXPECT_TRUE(reluctant->is_completed());
  });
}

TEST_F(AwaitAllTest, CallsOffTimeoutsAndLeavesWhatCannotBeCancelled) {
  fixture.run([this] {
    const auto limit = make_timeout(1h);
    const auto never = make_event<PlainEvent>(runtime);
    const auto quick = value_after(1ms, 1);
    await_any_or_fail(std::vector<Event*>{limit.get(), never.get(), &quick.event()},
                      {.on_exit = ExitPolicy::CancelAndJoin});
    EXPECT_TRUE(limit->is_cancelled());
    EXPECT_EQ(never->callbacks().size(), 0u);
  });
}

TEST_F(AwaitAllTest, IsAsGoodForAThousand) {
  FERMATA_CHECKS("CORE-AW-03", "CORE-AW-09");
  fixture.run([] {
    std::vector<Coroutine<int>> tasks;
    for (int i = 0; i < 1000; ++i)
      tasks.push_back(value_after(std::chrono::milliseconds(i % 7), i));
    const std::vector<int> values = await_all_or_fail(tasks);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], i);
  });
}

TEST_F(AwaitAllTest, TakesTheErrorsOfMembersOfAScopeFromIt) {
  FERMATA_CHECKS("CORE-AW-08", "CORE-SP-08");
  fixture.run([] {
    Scope scope("workers");
    const auto sibling = scope.spawn("sibling", [] { delay(20ms); });
    const auto failing = [&] {
      return scope.spawn("failing", []() -> int {
        delay(1ms);
        throw Error("awaited");
      });
    };
    EXPECT_EQ(await_all({failing(), failing()}).errors.size(), 2u);
    EXPECT_THROW(await_all_or_fail({failing()}), Error);
    EXPECT_FALSE(scope.is_cancelled()) << "somebody waits for the errors";
    await(sibling);
  });
}

/// Gives what `make(n)` makes for n = 0, 1, ... up to `count`, after a pause each.
template <class Make>
auto one_by_one(int count, Duration pause, Make make) {
  return [=, next = 0]() mutable -> std::optional<decltype(make(0))> {
    if (pause > Duration::zero()) delay(pause);
    if (next == count) return std::nullopt;
    return make(next++);
  };
}

TEST_F(AwaitAllTest, ReadsItsItemsFromASource) {
  FERMATA_CHECKS("CORE-AW-01", "CORE-AW-03", "CORE-AW-11");
  fixture.run([this] {
    const Instant start = now();
    const auto make = [](int n) { return value_after(10ms * (3 - n), n); };
    EXPECT_EQ(text_of(await_all(one_by_one(3, 1ms, make)).values), "2=2 1=1 0=0");
    EXPECT_EQ(now() - start, 31ms) << "items run while others are still to come";
    EXPECT_EQ(await_all_or_fail(one_by_one(3, 0ms, make)), (std::vector{0, 1, 2}));
    EXPECT_TRUE(await_all(one_by_one(0, 1ms, make)).values.empty());
    EXPECT_EQ(await_any_or_fail(one_by_one(0, 0ms, make)), std::nullopt);
    std::istringstream numbers("3 1 2");
    struct Tasks {
      std::istream_iterator<int> at, past = {};
      struct Iterator {
        using value_type = Coroutine<int>;
        using difference_type = std::ptrdiff_t;
        std::istream_iterator<int> at = {};
        Coroutine<int> operator*() const { return value_after(1ms, *at); }
        Iterator& operator++() { return ++at, *this; }
        void operator++(int) { ++at; }
        bool operator==(const Iterator& other) const { return at == other.at; }
      };
      [[nodiscard]] Iterator begin() const { return {at}; }
      [[nodiscard]] Iterator end() const { return {past}; }
    };
    EXPECT_EQ(await_all_or_fail(Tasks{std::istream_iterator<int>(numbers)}),
              (std::vector{3, 1, 2}));
    EXPECT_EQ(runtime.active_event_count(), 0u);
  });
}

TEST_F(AwaitAllTest, StopsReadingWhenItHasEnough) {
  FERMATA_CHECKS("CORE-AW-05");
  fixture.run([this] {
    int made = 0;
    const auto endless = [&] {
      ++made;
      return std::optional(value_after(10ms, made));
    };
    EXPECT_EQ(await_any_or_fail(endless), 1);
    EXPECT_EQ(made, 32) << "no more than so many at a time";
    made = 0;
    EXPECT_EQ(await_any_or_fail(endless, {.concurrency = 3}), 1);
    EXPECT_EQ(made, 3);
    made = 0;
    EXPECT_EQ(text_of(await_any_of(4, endless, {.concurrency = 1}).values), "0=1 1=2 2=3 3=4");
    bool unwound = false;
    const auto slow = [&]() -> std::optional<Coroutine<int>> {
      struct Mark {
        bool& mark;
        ~Mark() { mark = true; }
      } mark{unwound};
      delay(1h);
      return std::nullopt;
    };
    EXPECT_THROW(await_all(slow, {.timeout = 10ms}), Timeout);
    EXPECT_TRUE(unwound) << "nobody reads it any more";
    EXPECT_EQ(runtime.registry().size(), 1u);
  });
}

TEST_F(AwaitAllTest, FailsWithItsSource) {
  FERMATA_CHECKS("CORE-AW-08");
  fixture.run([] {
    auto broken = [n = 0]() mutable -> std::optional<Coroutine<int>> {
      if (n++ == 2) throw Error("no more");
      return value_after(1h, n);
    };
    EXPECT_EQ(thrown_by([&] { await_all(broken, {.on_exit = ExitPolicy::CancelAndJoin}); }),
              "fermata::Error: no more");
    const auto null = []() -> std::optional<Coroutine<int>> { return Coroutine<int>(); };
    EXPECT_THROW(await_all(null), UsageError);
    Coroutine<int> self;
    self = spawn([&] {
      EXPECT_THROW(await_all([&] { return std::optional(self); }), UsageError);
      return 0;
    });
    await(self);
  });
}

TEST_F(AwaitAllTest, EndsItsSourceWhenTheWaiterIsCancelled) {
  FERMATA_CHECKS("CORE-AW-05");
  fixture.run([this] {
    const auto waiter =
        spawn([] { await_all(one_by_one(5, 10ms, [](int n) { return value_after(1ms, n); })); });
    delay(25ms);
    waiter.cancel();
    EXPECT_EQ(thrown_by([&] { await(waiter); }), "fermata::Cancellation: Coroutine cancelled");
    EXPECT_EQ(runtime.registry().size(), 1u);
  });
}

TEST_F(AwaitAllTest, SaysWhatItWaitsFor) {
  EXPECT_THROW(fixture.run([this] {
    const auto never = make_event<PlainEvent>(runtime);
    await_all({never, never});
  }),
               DeadlockError);
  EXPECT_NE(fixture.log.find("await_all: 2 of 2 items have not ended; Event #"), std::string::npos)
      << fixture.log;
}

}  // namespace
}  // namespace fermata::test
