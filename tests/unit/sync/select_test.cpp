// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/select.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/select_join.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

using SelectTest = RuntimeFixture;

std::string shown(const std::optional<int>& value) {
  return value ? std::to_string(*value) : "closed";
}

MAIN_TEST_F(SelectTest, TakesTheFirstBranchThatIsDueWithoutSuspending) {
  const Channel<int> one("one", 1);
  const Channel<int> two("two", 1);
  one.send(1);
  two.send(2);
  bool others_ran = false;
  const auto other = spawn([&] { others_ran = true; });
  const auto tell = [](std::optional<int> value) { return shown(value); };
  EXPECT_EQ(select(on_receive(one, tell), on_receive(two, tell)), "1");
  EXPECT_EQ(select(on_receive(one, tell), on_receive(two, tell)), "2");
  EXPECT_FALSE(others_ran);
  await(other);
}

MAIN_TEST_F(SelectTest, WaitsForTheBranchThatIsDueFirst) {
  const Channel<int> one("one", 1);
  const Channel<int> two("two", 1);
  const auto sender = spawn([&] {
    delay(10ms);
    two.send(2);
  });
  const auto tell = [](std::optional<int> value) { return shown(value); };
  EXPECT_EQ(select(on_receive(one, tell), on_receive(two, tell),
                   on_timeout(1s, [] { return std::string("late"); })),
            "2");
  EXPECT_EQ(one.info(), "Channel(capacity=1, receivers=0, senders=0, reserved=0/0)");
  EXPECT_EQ(select(on_receive(one, tell), on_timeout(5ms, [] { return std::string("late"); })),
            "late");
  await(sender);
}

MAIN_TEST_F(SelectTest, AwaitsCoroutinesAndFutures) {
  const auto slow = spawn([] {
    delay(20ms);
    return 7;
  });
  Promise<std::string> promise;
  const auto teller = spawn([&] {
    delay(10ms);
    promise.complete("told");
  });
  const auto future = promise.future();
  const auto once = [&] {
    return select(on_end(slow, [](int value) { return std::to_string(value); }),
                  on_end(future, [](const std::string& text) { return text; }));
  };
  EXPECT_EQ(once(), "told");
  await(slow);
  EXPECT_EQ(once(), "7") << "in the order of the call";
  await(teller);
}

MAIN_TEST_F(SelectTest, SendsWhenThereIsRoom) {
  const Channel<int> out("out", 1);
  const Channel<int> in("in", 1);
  out.send(1);
  const auto reader = spawn([&] {
    delay(5ms);
    EXPECT_EQ(out.recv(), 1);
  });
  const int sent = select(on_send(out, 2, [] { return 1; }),
                          on_receive(in, [](std::optional<int>) { return 2; }));
  EXPECT_EQ(sent, 1);
  EXPECT_EQ(out.recv(), 2);
  await(reader);
}

MAIN_TEST_F(SelectTest, MeetsAnotherSelectAtARendezvous) {
  const Channel<int> meeting("meeting", 0);
  const Channel<int> other("other", 0);
  int received = 0;
  const auto receiver = spawn([&] {
    select(on_receive(other, [&](std::optional<int>) { received = -1; }),
           on_receive(meeting, [&](std::optional<int> value) { received = value.value_or(-2); }));
  });
  suspend();
  bool sent = false;
  select(on_send(meeting, 5, [&] { sent = true; }));
  await(receiver);
  EXPECT_TRUE(sent);
  EXPECT_EQ(received, 5);

  const auto sender = spawn([&] {
    select(on_send(meeting, 6, [&] { sent = true; }), on_receive(other, [](std::optional<int>) {}));
  });
  suspend();
  EXPECT_EQ(select(on_receive(meeting, [](std::optional<int> value) { return value.value(); })), 6);
  await(sender);
  EXPECT_EQ(meeting.count(), 0u);
}

MAIN_TEST_F(SelectTest, LeavesWhatItDoesNotTakeToTheNext) {
  const Channel<int> one("one", 1);
  const Channel<int> two("two", 1);
  std::string got;
  const auto choosing = spawn([&] {
    select(on_receive(one, [&](std::optional<int> value) { got += "one=" + shown(value); }),
           on_receive(two, [&](std::optional<int> value) { got += "two=" + shown(value); }));
  });
  suspend();
  const auto next = spawn([&] { got += " next=" + shown(two.next()); });
  suspend();
  one.send(1);
  two.send(2);
  await(choosing);
  await(next);
  EXPECT_EQ(got, "one=1 next=2");
}

MAIN_TEST_F(SelectTest, LosesNothingWhenItIsCancelledWithAPromise) {
  const Channel<int> jobs("jobs", 1);
  const auto choosing =
      spawn([&] { select(on_receive(jobs, [](std::optional<int>) { FAIL() << "cancelled"; })); });
  suspend();
  jobs.send(1);
  choosing.cancel();
  EXPECT_THROW(await(choosing), Cancellation);
  EXPECT_EQ(jobs.try_recv(), 1);
}

MAIN_TEST_F(SelectTest, KeepsItsValueWhenItIsCancelledAtARendezvous) {
  const Channel<int> meeting("meeting", 0);
  const auto choosing = spawn(
      [&] { select(on_send(meeting, 1, [] { FAIL() << "cancelled"; }), on_timeout(1s, [] {})); });
  suspend();
  choosing.cancel();
  EXPECT_EQ(meeting.try_recv(), std::nullopt);
  EXPECT_THROW(await(choosing), Cancellation);
}

MAIN_TEST_F(SelectTest, HoldsItsValueOutWithoutLosingItsTurnElsewhere) {
  const Channel<int> meeting("meeting", 0);
  const Channel<int> full("full", 1);
  full.send(0);
  const auto first = spawn([&] { meeting.send(1, {.timeout = 5ms}); });
  suspend();
  std::string order;
  const auto choosing = spawn([&] {
    select(on_send(meeting, 2, [&] { order += "meeting "; }),
           on_send(full, 3, [&] { order += "select "; }));
  });
  suspend();
  const auto later = spawn([&] {
    full.send(4);
    order += "later ";
  });
  EXPECT_THROW(await(first), Timeout) << "now the select holds its value out";
  EXPECT_EQ(full.recv(), 0);
  EXPECT_EQ(full.recv(), 3);
  EXPECT_EQ(full.recv(), 4);
  await(choosing);
  await(later);
  EXPECT_EQ(order, "select later ");
}

MAIN_TEST_F(SelectTest, GivesNothingFromAClosedChannel) {
  const Channel<int> jobs("jobs", 1);
  const auto closer = spawn([&] { jobs.close(); });
  const auto tell = [](std::optional<int> value) { return shown(value); };
  EXPECT_EQ(select(on_receive(jobs, tell)), "closed");
  EXPECT_EQ(select(on_receive(jobs, tell)), "closed");
  EXPECT_THROW(select(on_send(jobs, 1, [] {})), ChannelError);
  await(closer);
}

MAIN_TEST_F(SelectTest, ThrowsTheErrorOfWhatHasEnded) {
  const auto failing = spawn([] {
    delay(1ms);
    throw Error("no");
  });
  EXPECT_THROW(select(on_end(failing, [] {}), on_timeout(1s, [] {})), Error);
  EXPECT_THROW(select(on_end(failing, [] {})), Error) << "it stays";
}

MAIN_TEST_F(SelectTest, TakesATimeoutAndAToken) {
  const Channel<int> jobs("jobs", 1);
  const auto nothing = [](std::optional<int>) {};
  EXPECT_THROW(select(SelectOptions{.timeout = 5ms}, on_receive(jobs, nothing)), Timeout);
  Promise<> stop;
  const auto stopper = spawn([&] { stop.complete(); });
  const auto stopped = stop.future();
  EXPECT_THROW(select(SelectOptions{.token = &stopped.event()}, on_receive(jobs, nothing)),
               OperationCancelled);
  await(stopper);
  EXPECT_EQ(jobs.info(), "Channel(capacity=1, receivers=0, senders=0, reserved=0/0)");
}

MAIN_TEST_F(SelectTest, DrawsAmongThoseThatAreDue) {
  const Channel<int> one("one", 1000);
  const Channel<int> two("two", 1000);
  int taken[2] = {};
  for (int i = 0; i < 1000; ++i) {
    one.send(1);
    two.send(2);
  }
  for (int i = 0; i < 1000; ++i) {
    select(SelectOptions{.order = SelectOrder::Drawn},
           on_receive(one, [&](std::optional<int>) { ++taken[0]; }),
           on_receive(two, [&](std::optional<int>) { ++taken[1]; }));
  }
  EXPECT_GT(taken[0], 300);
  EXPECT_GT(taken[1], 300);
}

MAIN_TEST_F(SelectTest, ReturnsWhatItsHandlerReturnsAlsoAReference) {
  int counts[2] = {};
  int& chosen = select(on_timeout(0ms, [&]() -> int& { return counts[1]; }));
  EXPECT_EQ(&chosen, &counts[1]);
}

MAIN_TEST_F(SelectTest, LeavesResultsWhereTheyAreAndMovesWhatCannotBeCopied) {
  const auto text = spawn([] { return std::string("a text that is not short"); });
  const auto owner = spawn([] { return std::make_unique<int>(7); });
  suspend();
  select(on_end(text, [](std::string value) { EXPECT_EQ(value, "a text that is not short"); }));
  EXPECT_EQ(await(text), "a text that is not short");
  select(on_end(owner, [](std::unique_ptr<int> value) { EXPECT_EQ(*value, 7); }));
}

MAIN_TEST_F(SelectTest, IsATryWithAZeroTimeoutAtItsEnd) {
  const Channel<int> jobs("jobs", 1);
  const auto once = [&] {
    return select(on_receive(jobs, [](std::optional<int> value) { return shown(value); }),
                  on_timeout(0ms, [] { return std::string("nothing"); }));
  };
  EXPECT_EQ(once(), "nothing");
  jobs.send(3);
  EXPECT_EQ(once(), "3");
}

MAIN_TEST_F(SelectTest, JoinsTheTasksOfASet) {
  TaskSet<int> tasks;
  tasks.spawn([] {
    delay(5ms);
    return 1;
  });
  tasks.spawn([]() -> int {
    delay(10ms);
    throw Error("no");
  });
  tasks.close();
  const auto once = [&](Duration patience) {
    return select(on_join(tasks,
                          [](auto result) {
                            if (!result) return std::string("over");
                            return result->value ? shown(*result->value) : std::string("failed");
                          }),
                  on_timeout(patience, [] { return std::string("late"); }));
  };
  EXPECT_EQ(once(1ms), "late");
  EXPECT_EQ(once(1s), "1");
  EXPECT_EQ(once(1s), "failed");
  EXPECT_EQ(once(1s), "over");
}

MAIN_TEST_F(SelectTest, GivesBackATaskThatItDoesNotTake) {
  TaskSet<int> tasks;
  tasks.spawn([] {
    delay(5ms);
    return 1;
  });
  const auto choosing = spawn([&] { select(on_join(tasks, [](auto) { FAIL() << "cancelled"; })); });
  const auto canceller = spawn([&] {
    delay(5ms);
    choosing.cancel();
  });
  EXPECT_THROW(await(choosing), Cancellation);
  EXPECT_EQ(tasks.join_next(), 1);
}

MAIN_TEST_F(SelectTest, FollowsATimerOfTheProgramsOwn) {
  Timer ticks(current_runtime(), 10ms, TimerMode::Periodic);
  const Channel<int> jobs("jobs", 1);
  const auto sender = spawn([&] {
    delay(25ms);
    jobs.send(1);
  });
  std::string seen;
  for (int i = 0; i < 4; ++i) {
    select(on_event(ticks, [&] { seen += "t"; }),
           on_receive(jobs, [&](std::optional<int> value) { seen += shown(value); }));
  }
  EXPECT_EQ(seen, "tt1t");
  await(sender);
}

MAIN_TEST_F(SelectTest, RefusesWhatCannotEnd) {
  EXPECT_THROW(select(on_timeout(-1ms, [] {})), UsageError);
  EXPECT_THROW(select(on_end(Coroutine<>(), [] {})), UsageError);
  const Channel<int> none;
  EXPECT_THROW(select(on_receive(none, [](std::optional<int>) {})), UsageError);
  Coroutine<> self;
  self = spawn([&] { EXPECT_THROW(select(on_end(self, [] {})), UsageError); });
  await(self);
  const Channel<int> meeting("meeting", 0);
  EXPECT_THROW(select(on_receive(meeting, [](std::optional<int>) {}), on_send(meeting, 1, [] {})),
               UsageError)
      << "it would wait for itself";
  EXPECT_EQ(meeting.info(), "Channel(capacity=0, receivers=0, senders=0, reserved=0/0)");
  EXPECT_THROW(select(SelectOptions{.timeout = -1ms}, on_timeout(1ms, [] {})), UsageError);
}

}  // namespace
}  // namespace fermata::test
