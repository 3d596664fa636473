// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/await.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class AwaitTest : public RuntimeFixture {};

MAIN_TEST_F(AwaitTest, GivesTheResult) {
  const auto value = spawn([] {
    suspend();
    return std::string("done");
  });
  EXPECT_EQ(await(value), "done");
  EXPECT_EQ(await(spawn([] { return 7; })), 7) << "of a handle that nobody keeps";
  EXPECT_EQ(*await(spawn([] { return std::make_unique<int>(3); })), 3);
  EXPECT_TRUE(value->result_used());
}

MAIN_TEST_F(AwaitTest, GivesTheSameLateAsEarlyAndNeverSuspends) {
  FERMATA_CHECKS("CORE-CO-09", "CORE-EV-08", "CORE-EV-13");
  const auto value = spawn([] { return std::vector{1, 2, 3}; });
  const std::vector<int>* early = &await(value);
  const Metrics before = runtime.metrics();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(&await(value), early) << "the same object";
  EXPECT_EQ(runtime.metrics().switches, before.switches);
  EXPECT_EQ(runtime.metrics().ticks, before.ticks);
}

TEST_F(AwaitTest, GivesEachAwaiterTheSameError) {
  FERMATA_CHECKS("CORE-CO-09", "CORE-CO-10");
  fixture.run([] {
    const auto failed = spawn([] { throw Error("failed"); });
    const auto caught = [&]() -> const Error* {
      try {
        await(failed);
      } catch (const Error& error) {
        return &error;
      }
      return nullptr;
    };
    const auto other = spawn(caught);
    const Error* mine = caught();
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(await(other), mine);
    EXPECT_EQ(caught(), mine) << "late";
    EXPECT_TRUE(failed->exception_caught());
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

TEST_F(AwaitTest, NeverReportsAnErrorThatWasAwaited) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-GL-05");
  fixture.run([] {
    {
      const auto late = spawn([] { throw Error("taken late"); });
      suspend();
      suspend();
      EXPECT_THROW(await(late), Error);
    }
    suspend();
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
  EXPECT_EQ(fixture.log, "");
}

TEST_F(AwaitTest, ReportsAnErrorOnceWhenTheLastHandleGoes) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-GL-05");
  EXPECT_EQ(thrown_by([this] {
              fixture.run([this] {
                auto failed = std::make_unique<Coroutine<>>(spawn([] { throw Error("dropped"); }));
                auto copy = std::make_unique<Coroutine<>>(*failed);
                suspend();
                suspend();
                failed.reset();
                suspend();
                EXPECT_FALSE(runtime.scheduler().is_shutting_down()) << "a handle is left";
                copy.reset();
                EXPECT_THROW(suspend(), Cancellation);
              });
            }),
            "fermata::Error: dropped");
  EXPECT_EQ(runtime.exit_errors().size(), 1u);
}

TEST_F(AwaitTest, ReportsAnErrorAtOnceWhenNobodyHoldsAHandle) {
  FERMATA_CHECKS("CORE-CO-10");
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                spawn([] { throw Error("nobody looks"); });
                EXPECT_THROW(delay(1h), Cancellation);
              });
            }),
            "fermata::Error: nobody looks");
  EXPECT_EQ(runtime.exit_errors().size(), 1u);
}

TEST_F(AwaitTest, DoesNotReportWhatASubscriberTook) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-GL-05");
  fixture.run([] {
    Subscription taker;
    {
      const auto failed = spawn([] { throw Error("taken"); });
      taker =
          subscribe(*failed, [](Event& event, const Outcome&) { event.mark_exception_handled(); });
      suspend();
    }
    suspend();
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

TEST_F(AwaitTest, LosesNoErrorWhenTheAwaiterIsCancelledFirst) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-GL-05");
  std::string got;
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto failed = spawn([] {
                  suspend();
                  suspend();
                  throw Error("failed");
                });
                const auto awaiter = spawn([&] { got = thrown_by([&] { await(failed); }); });
                const auto canceller = spawn([&] {
                  while (!failed->is_completed()) suspend();
                  awaiter.cancel();
                });
                await(canceller);
                await(awaiter);
              });
            }),
            "fermata::Error: failed")
      << "nobody took it";
  EXPECT_EQ(got, "fermata::Cancellation: Coroutine cancelled\n  previous: fermata::Error: failed");
}

MAIN_TEST_F(AwaitTest, RefusesToAwaitItself) {
  Coroutine<> self;
  self = spawn([&] {
    EXPECT_EQ(thrown_by([&] { await(self); }),
              "fermata::UsageError: a coroutine cannot await itself");
  });
  await(self);
}

MAIN_TEST_F(AwaitTest, DeliversTheCancellationOfACancelledCoroutine) {
  const auto child = spawn([] { delay(1h); });
  child.cancel();
  EXPECT_EQ(end_of(child), "fermata::Cancellation: Coroutine cancelled");
  EXPECT_THROW(await(child), AwaitedCancelled);
  EXPECT_FALSE(current_coroutine().is_cancellation_requested());
  suspend();
}

MAIN_TEST_F(AwaitTest, GivesUpAfterItsTimeoutAndLeavesTheCoroutineAlone) {
  FERMATA_CHECKS("CORE-CN-07");
  const auto slow = spawn([] {
    delay(100ms);
    return 1;
  });
  const Instant start = now();
  EXPECT_EQ(thrown_by([&] {
              await(slow, {10ms, nullptr});
            }),
            "fermata::Timeout: Timeout occurred after 10 milliseconds");
  EXPECT_EQ(now() - start, 10ms);
  EXPECT_EQ(await(slow), 1);
}

}  // namespace
}  // namespace fermata::test
