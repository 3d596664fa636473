// SPDX-License-Identifier: Apache-2.0

// Coroutine::cancel: every row of its decision table.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class CancelTest : public RuntimeFixture {};

MAIN_TEST_F(CancelTest, KeepsABodyThatHasNotStartedFromRunning) {
  FERMATA_CHECKS("CORE-CO-03", "CORE-CO-11");
  int entered = 0;
  int finally_ran = 0;
  const auto child = spawn([&] { ++entered; });
  child->finally([&](CoroutineBase& ended) {
    ++finally_ran;
    EXPECT_TRUE(ended.is_cancelled());
  });
  std::string got;
  const auto awaiter = spawn([&] { got = end_of(child); });
  child.cancel(reason("not needed"));
  EXPECT_TRUE(child->is_queued());
  EXPECT_TRUE(child->is_cancellation_requested());
  EXPECT_EQ(child->waker().status, backend::WakerStatus::Ignored);
  await(awaiter);
  EXPECT_EQ(entered, 0);
  EXPECT_EQ(finally_ran, 1);
  EXPECT_EQ(got, "fermata::Cancellation: not needed");
  EXPECT_TRUE(child->is_cancelled());
  EXPECT_FALSE(child->is_started());
  EXPECT_EQ(runtime.root_scope().member_count(), 1u);
}

MAIN_TEST_F(CancelTest, ReachesAWaitingCoroutineAtItsSuspensionPoint) {
  FERMATA_CHECKS("CORE-CN-01");
  const auto event = make_event<BackendEvent>(runtime);
  std::string got;
  const auto child = spawn([&] { got = thrown_by([&] { wait(*event); }); });
  suspend();
  child.cancel(reason("stop"));
  EXPECT_EQ(event->loop_ref_count(), 0u);
  EXPECT_EQ(event->callbacks().size(), 0u);
  EXPECT_EQ(got, "") << "never synchronously";
  await(child);
  EXPECT_EQ(got, "fermata::Cancellation: stop");
  EXPECT_FALSE(child->is_cancellation_requested());
}

MAIN_TEST_F(CancelTest, ReplacesTheAnswerOfAWokenCoroutine) {
  FERMATA_CHECKS("CORE-WK-07", "CORE-CN-11");
  const auto event = make_event<PlainEvent>(runtime);
  std::string got;
  const auto child = spawn([&] { got = thrown_by([&] { wait(*event); }); });
  suspend();
  event->notify({});
  child.cancel();
  EXPECT_EQ(runtime.scheduler().ready().size(), 1u) << "it is queued once";
  await(child);
  EXPECT_EQ(got, "fermata::Cancellation: Coroutine cancelled");
}

MAIN_TEST_F(CancelTest, PutsItselfOnTopOfAPendingError) {
  const auto event = make_event<PlainEvent>(runtime);
  std::string got;
  const auto child = spawn([&] { got = thrown_by([&] { wait(*event); }); });
  suspend();
  event->notify({nullptr, std::make_exception_ptr(Error("failed"))});
  child.cancel(reason("stop"));
  await(child);
  EXPECT_EQ(got, "fermata::Cancellation: stop\n  previous: fermata::Error: failed");
}

MAIN_TEST_F(CancelTest, IsDeliveredOnceHoweverOftenItIsAskedFor) {
  FERMATA_CHECKS("CORE-CO-05", "CORE-CN-02", "CORE-GL-13");
  std::vector<std::string> got;
  const auto child = spawn([&] {
    for (int i = 0; i < 3; ++i) got.push_back(thrown_by([] { delay(1ms); }));
  });
  suspend();
  for (const char* text : {"first", "second", "third"}) child.cancel(reason(text));
  suspend();
  EXPECT_EQ(got, (std::vector<std::string>{"fermata::Cancellation: first"}));
  child.cancel(reason("fourth"));
  suspend();
  await(child);
  EXPECT_EQ(got, (std::vector<std::string>{"fermata::Cancellation: first",
                                           "fermata::Cancellation: fourth", ""}));
}

MAIN_TEST_F(CancelTest, HasNoEffectOnAFinishedCoroutine) {
  FERMATA_CHECKS("CORE-CO-04", "CORE-GL-13");
  const auto child = spawn([] { return 7; });
  EXPECT_EQ(await(child), 7);
  EXPECT_EQ(thrown_by([&] { child.cancel(); }), "") << "no error either";
  EXPECT_EQ(thrown_by([&] { child.cancel(std::make_exception_ptr(Error("x"))); }), "");
  EXPECT_EQ(await(child), 7);
  EXPECT_FALSE(child->is_cancelled());
  EXPECT_FALSE(child->is_cancellation_requested());
}

MAIN_TEST_F(CancelTest, RefusesAReasonThatIsNoCancellation) {
  const auto child = spawn([] { suspend(); });
  EXPECT_EQ(thrown_by([&] { child.cancel(std::make_exception_ptr(Error("x"))); }),
            "fermata::UsageError: cancel: the reason must be a Cancellation");
  EXPECT_FALSE(child->is_cancellation_requested());
  await(child);
}

MAIN_TEST_F(CancelTest, OfItselfIsRaisedAtTheNextSuspension) {
  FERMATA_CHECKS("CORE-CO-14");
  bool went_on = false;
  std::string at_suspend;
  std::string after;
  const auto child = spawn([&] {
    current_coroutine().cancel(reason("myself"));
    current_coroutine().cancel(reason("again"));
    went_on = true;
    at_suspend = thrown_by([] { suspend(); });
    after = thrown_by([] { suspend(); });
  });
  await(child);
  EXPECT_TRUE(went_on);
  EXPECT_EQ(at_suspend, "fermata::Cancellation: myself");
  EXPECT_EQ(after, "") << "delivered once";
  EXPECT_EQ(child->error(), nullptr);
}

MAIN_TEST_F(CancelTest, OfItselfIsRaisedAtARealWaitAndStopsWhatItStarted) {
  FERMATA_CHECKS("CORE-CO-14", "CORE-WK-03");
  const auto event = make_event<BackendEvent>(runtime);
  const auto child = spawn([&] {
    current_coroutine().cancel();
    EXPECT_EQ(thrown_by([&] { wait(*event); }), "fermata::Cancellation: Coroutine cancelled");
  });
  await(child);
  EXPECT_EQ(event->loop_ref_count(), 0u);
  EXPECT_EQ(event->callbacks().size(), 0u);
}

MAIN_TEST_F(CancelTest, OfItselfIsTheOutcomeWhenItSuspendsNoMore) {
  FERMATA_CHECKS("CORE-CO-14", "CORE-CO-11");
  const auto returns = spawn([] { current_coroutine().cancel(reason("myself")); });
  const auto throws = spawn([] {
    current_coroutine().cancel(reason("myself"));
    throw Error("failed");
  });
  EXPECT_EQ(end_of(returns), "fermata::Cancellation: myself");
  EXPECT_EQ(thrown_by([&] { await(throws); }),
            "fermata::Error: failed\n  previous: fermata::Cancellation: myself");
  EXPECT_TRUE(returns->is_cancelled());
}

MAIN_TEST_F(CancelTest, OfItselfLetsAFinishedAwaitablePass) {
  const auto finished = spawn([] { return 5; });
  await(finished);
  const auto child = spawn([&] {
    current_coroutine().cancel();
    EXPECT_EQ(await(finished), 5) << "what is complete wins";
    EXPECT_EQ(thrown_by([] { suspend(); }), "fermata::Cancellation: Coroutine cancelled");
  });
  await(child);
}

TEST_F(CancelTest, ReachesAYieldingCoroutineFromItsOwnTick) {
  FERMATA_CHECKS("CORE-CN-01");
  struct Canceller final : backend::Microtask {
    explicit Canceller(CoroutineBase& whom) : target(whom) {}
    void run() override { target.cancel(reason("from a microtask")); }
    CoroutineBase& target;
  };
  fixture.run([this] {
    std::string at_yield;
    const auto child = spawn([&] {
      auto* task = new Canceller(current_coroutine());
      runtime.queue_microtask(*task);
      task->release();
      at_yield = thrown_by([] { suspend(); });
    });
    await(child);
    EXPECT_EQ(at_yield, "fermata::Cancellation: from a microtask");
  });
}

TEST_F(CancelTest, IsNoCancellationOfWhoAwaits) {
  fixture.run([] {
    const auto child = spawn([] { delay(1h); });
    const auto parent = spawn([&] { await(child); });
    suspend();
    child.cancel(reason("child only"));
    suspend();
    suspend();
    EXPECT_EQ(message_of(parent->error()), "coroutine 2 was cancelled: child only");
    EXPECT_TRUE(parent->is_completed());
    EXPECT_FALSE(parent->is_cancelled()) << "it ended with another's cancellation";
  });
  EXPECT_TRUE(runtime.exit_errors().empty()) << "silently";
}

TEST_F(CancelTest, WaitsForTheEndOfADestructorThatRunsBecauseOfAnError) {
  FERMATA_CHECKS("CORE-GL-15", "CORE-GL-14");
  struct CleanUp {
    ~CleanUp() {
      const int before = std::uncaught_exceptions();
      delay(10ms);
      cleaned = std::uncaught_exceptions() == before;
    }
    bool& cleaned;
  };
  fixture.run([] {
    bool cleaned = false;
    std::string afterwards;
    const auto child = spawn([&] {
      try {
        const CleanUp clean_up{cleaned};
        throw Error("failed");
      } catch (const Error&) {
      }
      afterwards = thrown_by([] { suspend(); });
    });
    suspend();
    child.cancel(reason("meanwhile"));
    spawn([] { EXPECT_THROW(throw Error("of another coroutine"), Error); });
    await(child);
    EXPECT_TRUE(cleaned);
    EXPECT_EQ(afterwards, "fermata::Cancellation: meanwhile");
  });
}

TEST_F(CancelTest, OfItselfIsNotRaisedInADestructorThatRunsBecauseOfAnError) {
  struct CleanUp {
    ~CleanUp() {
      current_coroutine().cancel();
      suspend();
      delay(1ms);
    }
  };
  fixture.run([] {
    const auto child = spawn([] {
      const CleanUp clean_up;
      throw Error("failed");
    });
    EXPECT_EQ(thrown_by([&] { await(child); }),
              "fermata::Error: failed\n  previous: fermata::Cancellation: Coroutine cancelled");
  });
}

}  // namespace
}  // namespace fermata::test
