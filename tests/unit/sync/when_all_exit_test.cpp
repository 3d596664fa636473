// SPDX-License-Identifier: Apache-2.0

// What becomes of the items that are left when a wait for several is over.

#include <gtest/gtest.h>

#include <exception>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/timeout.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/when_all_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

MAIN_TEST_F(WhenAllTest, JoinsWhatIsLeft) {
  const Instant start = now();
  const auto slow = value_after(20ms, 2);
  const auto bad = failure_after(30ms, "late");
  const auto [values, errors] =
      when_some_succeed(1, {value_after(10ms, 1), slow, bad}, {.on_exit = ExitPolicy::Join});
  EXPECT_EQ(now() - start, 30ms);
  EXPECT_EQ(text_of(values), "0=1") << "as it was settled";
  EXPECT_EQ(text_of(errors), "2=late") << "owned by the policy";
  EXPECT_TRUE(bad->exception_caught());
  const auto other = value_after(20ms, 2);
  EXPECT_THROW(when_all({failure_after(1ms, "no"), other}, {.on_exit = ExitPolicy::Join}), Error);
  EXPECT_TRUE(other->is_completed());
}

MAIN_TEST_F(WhenAllTest, StopsJoiningWhenItsTokenOrTimeoutSaysSo) {
  const Instant start = now();
  const auto slow = value_after(1s, 2);
  const auto token = value_after(20ms, 0);
  EXPECT_THROW(when_any({value_after(10ms, 1), slow},
                        {.token = &token.event(), .on_exit = ExitPolicy::Join}),
               OperationCancelled);
  EXPECT_EQ(now() - start, 20ms);
  EXPECT_THROW(
      when_all({failure_after(5ms, "no"), slow}, {.timeout = 10ms, .on_exit = ExitPolicy::Join}),
      Error)
      << "the failure is what matters";
  EXPECT_EQ(now() - start, 30ms);
  EXPECT_THROW(when_all_settled({slow}, {.timeout = 10ms, .on_exit = ExitPolicy::Join}), Timeout);
  EXPECT_EQ(now() - start, 40ms);
}

MAIN_TEST_F(WhenAllTest, JoinsAfterACancellationOfTheWaiter) {
  const auto slow = value_after(20ms, 2);
  const auto waiter = spawn([&] { when_all_settled({slow}, {.on_exit = ExitPolicy::Join}); });
  delay(1ms);
  waiter.cancel();
  delay(1ms);
  EXPECT_FALSE(waiter->is_completed());
  EXPECT_THROW(await(waiter), Cancellation);
  EXPECT_TRUE(slow->is_completed());
  const auto slower = value_after(20ms, 2);
  const auto impatient = spawn([&] { when_all_settled({slower}, {.on_exit = ExitPolicy::Join}); });
  delay(1ms);
  impatient.cancel(std::make_exception_ptr(Cancellation("first")));
  delay(1ms);
  impatient.cancel(std::make_exception_ptr(Cancellation("second")));
  EXPECT_EQ(end_of(impatient),
            "fermata::Cancellation: second\n  previous: fermata::Cancellation: first");
  EXPECT_FALSE(slower->is_completed());
}

MAIN_TEST_F(WhenAllTest, CancelsWhatIsLeftAndJoinsIt) {
  FERMATA_CHECKS("CORE-AW-12");
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
  const auto [values, errors] = when_some_succeed(1, {value_after(10ms, 1), slow, stubborn},
                                                  {.on_exit = ExitPolicy::CancelAndJoin});
  EXPECT_EQ(now() - start, 15ms);
  EXPECT_TRUE(slow->is_cancelled());
  EXPECT_TRUE(stubborn->is_completed());
  EXPECT_EQ(text_of(values), "0=1");
  EXPECT_EQ(text_of(errors), "2=while cleaning up") << "not the cancellation that we caused";
}

TEST_F(WhenAllTest, HearsTheFailureOfWhatItHasCancelledAndJoined) {
  FERMATA_CHECKS("CORE-AW-12", "CORE-CO-10");
  run([] {
    const auto stubborn = [] {
      return spawn([]() -> int {
        try {
          delay(1h);
        } catch (const Cancellation&) {
          throw Error("while cleaning up");
        }
        return 0;
      });
    };
    EXPECT_EQ(when_any({value_after(1ms, 1), stubborn()}, {.on_exit = ExitPolicy::CancelAndJoin}),
              1);
    EXPECT_THROW(when_all({stubborn()}, {.timeout = 1ms, .on_exit = ExitPolicy::CancelAndJoin}),
                 Timeout);
  });
  EXPECT_TRUE(runtime.exit_errors().empty()) << "nobody else is there to hear it";
}

MAIN_TEST_F(WhenAllTest, TellsOfACancellationThatItHasNotCaused) {
  const auto victim = spawn([] {
    delay(1h);
    return 0;
  });
  suspend();
  victim->cancel(reason("by somebody else"));
  const auto [values, errors] =
      when_all_settled({victim, value_after(10ms, 1)}, {.on_exit = ExitPolicy::CancelAndJoin});
  EXPECT_EQ(text_of(values), "1=1");
  EXPECT_EQ(text_of(errors), "0=coroutine 2 was cancelled: by somebody else");
}

MAIN_TEST_F(WhenAllTest, CancelsFuturesThatAreLeft) {
  FERMATA_CHECKS("CORE-AW-12");
  Promise<int> kept;
  Promise<int> forgotten;
  const auto keeper = spawn([&] {
    delay(10ms);
    kept.complete(1);
  });
  EXPECT_EQ(when_any({kept.future(), forgotten.future()}, {.on_exit = ExitPolicy::CancelAndJoin}),
            1);
  EXPECT_EQ(describe(forgotten.future().event().replay()->error),
            "fermata::Cancellation: The wait for it has ended");
  await(keeper);
}

MAIN_TEST_F(WhenAllTest, CancelsAndJoinsHoweverTheWaitEnds) {
  FERMATA_CHECKS("CORE-AW-12", "CORE-CO-06");
  const AwaitOptions options{.timeout = 10ms, .on_exit = ExitPolicy::CancelAndJoin};
  const auto timed_out = value_after(1h, 0);
  EXPECT_THROW(when_all_settled({timed_out}, options), Timeout);
  EXPECT_TRUE(timed_out->is_completed());
  const auto sibling = value_after(1h, 0);
  EXPECT_EQ(thrown_by([&] {
              when_all({sibling, failure_after(1ms, "no")}, options);
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
      spawn([&] { when_all_settled({reluctant}, {.on_exit = ExitPolicy::CancelAndJoin}); });
  delay(1ms);
  waiter.cancel(std::make_exception_ptr(Cancellation("first")));
  delay(1ms);
  waiter.cancel(std::make_exception_ptr(Cancellation("second")));
  delay(1ms);
  EXPECT_FALSE(waiter->is_completed()) << "come what may";
  EXPECT_EQ(end_of(waiter),
            "fermata::Cancellation: second\n  previous: fermata::Cancellation: first");
  EXPECT_TRUE(reluctant->is_completed());
}

MAIN_TEST_F(WhenAllTest, CallsOffTimeoutsAndLeavesWhatCannotBeCancelled) {
  const auto limit = make_timeout(1h);
  const auto never = make_event<PlainEvent>(runtime);
  const auto quick = value_after(1ms, 1);
  when_any(std::vector<Event*>{limit.get(), never.get(), &quick.event()},
           {.on_exit = ExitPolicy::CancelAndJoin});
  EXPECT_TRUE(limit->is_cancelled());
  EXPECT_EQ(never->callbacks().size(), 0u);
}

}  // namespace
}  // namespace fermata::test
