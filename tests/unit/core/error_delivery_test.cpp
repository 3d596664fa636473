// SPDX-License-Identifier: Apache-2.0

// Between the wake and the turn of a coroutine: who has the error, and which of two reasons to stop
// it is told of. A coroutine that is cancelled there has not taken the error: it is as if the
// cancellation had come first.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/observer.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/cutter.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

void fail_soon() {
  delay(1ms);
  throw Error("failed");
}

/// Cancels `whom` as soon as `event` fires, after those who subscribed before have been woken.
Subscription cancel_when(Event& event, CoroutineBase& whom) {
  return subscribe(event, [&whom](Event&, const Outcome&) {
    EXPECT_EQ(whom.waker().status, backend::WakerStatus::Queued);
    whom.cancel(reason("stop"));
  });
}

class ErrorDeliveryTest : public RuntimeFixture {
 protected:
  template <class Body>
  std::string run(Body body) {
    return thrown_by([&] { fixture.run(body); });
  }

  std::string got;
};

TEST_F(ErrorDeliveryTest, MarksTheErrorOfACoroutineWhenItIsThrown) {
  FERMATA_CHECKS("CORE-WK-12", "CORE-CO-10");
  EXPECT_EQ(run([this] {
              const auto failing = spawn(fail_soon);
              const auto waiter = spawn([&] { got = thrown_by([&] { await(failing); }); });
              suspend();
              const Subscription at_wake = subscribe(*failing, [&](Event& event, const Outcome&) {
                EXPECT_TRUE(waiter->is_queued());
                EXPECT_FALSE(event.exception_caught());
              });
              await(waiter);
              EXPECT_TRUE(failing->exception_caught());
            }),
            "");
  EXPECT_EQ(got, "fermata::Error: failed");
}

TEST_F(ErrorDeliveryTest, LeavesTheErrorToTheNextWhenTheFirstIsCancelled) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-GL-05");
  EXPECT_EQ(run([this] {
              const auto failing = spawn(fail_soon);
              const auto waiter = spawn([&] { got = thrown_by([&] { await(failing); }); });
              suspend();
              const Subscription canceller = cancel_when(*failing, *waiter);
              await(waiter);
              EXPECT_FALSE(failing->exception_caught());
              EXPECT_EQ(thrown_by([&] { await(failing); }), "fermata::Error: failed");
              EXPECT_TRUE(failing->exception_caught());
            }),
            "");
  EXPECT_EQ(got, "fermata::Cancellation: stop\n  previous: fermata::Error: failed");
}

TEST_F(ErrorDeliveryTest, ReportsTheErrorWhenNobodyButTheCancelledOneHadAHandle) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-GL-05", "CORE-CN-06");
  CoroutineBase* child = nullptr;
  EXPECT_EQ(run([&] {
              const auto waiter = spawn([&] {
                const auto failing = spawn(fail_soon);
                child = &*failing;
                await(failing);
              });
              suspend();
              const Subscription canceller = cancel_when(*child, *waiter);
              EXPECT_EQ(thrown_by([] { delay(1h); }), "fermata::Cancellation: Graceful shutdown");
            }),
            "fermata::Error: failed");
}

TEST_F(ErrorDeliveryTest, IsTakenByOneOfTwoWhenTheOtherIsCancelled) {
  FERMATA_CHECKS("CORE-CO-10");
  EXPECT_EQ(run([&] {
              const auto failing = spawn(fail_soon);
              const auto cancelled = spawn([&] { await(failing); });
              const auto taker = spawn([&] { got = thrown_by([&] { await(failing); }); });
              suspend();
              const Subscription canceller = cancel_when(*failing, *cancelled);
              await(taker);
            }),
            "");
  EXPECT_EQ(got, "fermata::Error: failed");
}

TEST_F(ErrorDeliveryTest, LeavesTheErrorOfATokenWithItsCoroutine) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-CN-04");
  EXPECT_EQ(
      run([this] {
        const auto never = make_event<PlainEvent>(runtime);
        const auto token = spawn(fail_soon);
        const auto waiter = spawn([&] { got = thrown_by([&] { wait(*never, {{}, &*token}); }); });
        suspend();
        const Subscription canceller = cancel_when(*token, *waiter);
        await(waiter);
        EXPECT_FALSE(token->exception_caught());
      }),
      "fermata::Error: failed");
  EXPECT_EQ(got,
            "fermata::Cancellation: stop\n"
            "  previous: fermata::OperationCancelled: Operation has been cancelled\n"
            "  previous: fermata::Error: failed");
}

TEST_F(ErrorDeliveryTest, MarksTheErrorOfATokenWhenTheWaitIsAbandoned) {
  FERMATA_CHECKS("CORE-CN-04", "CORE-WK-12");
  EXPECT_EQ(run([this] {
              const auto never = make_event<PlainEvent>(runtime);
              const auto token = spawn(fail_soon);
              got = thrown_by([&] { wait(*never, {{}, &*token}); });
              EXPECT_TRUE(token->exception_caught());
            }),
            "");
  EXPECT_EQ(got,
            "fermata::OperationCancelled: Operation has been cancelled\n"
            "  previous: fermata::Error: failed");
}

TEST_F(ErrorDeliveryTest, ReportsTheErrorOfMainWhenItsWaiterIsCancelled) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-SC-15");
  Subscription canceller;
  EXPECT_EQ(run([&] {
              CoroutineBase& main = current_coroutine();
              const auto waiter = spawn([&] { wait(main); });
              suspend();
              canceller = cancel_when(main, *waiter);
              fail_soon();
            }),
            "fermata::Error: failed");
}

TEST_F(ErrorDeliveryTest, LetsTheErrorOfMainBeTaken) {
  EXPECT_EQ(run([this] {
              CoroutineBase& main = current_coroutine();
              spawn([&] { got = thrown_by([&] { wait(main); }); });
              suspend();
              fail_soon();
            }),
            "");
  EXPECT_EQ(got, "fermata::Error: failed");
}

TEST(ErrorDelivery, LosesNoErrorToAForcedUnwinding) {
  FERMATA_CHECKS("CORE-CO-10", "CORE-GL-05");
  Cutter cutter;
  RuntimeOptions options;
  options.observer = &cutter;
  TestRuntime fixture(options);
  const CoroutineBase* failing = nullptr;
  cutter.when = [&] { return failing != nullptr && failing->is_closed(); };
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto child = spawn(fail_soon);
                failing = &*child;
                await(child);
              });
            }),
            "fermata::backend::AbandonRun");
  const auto errors = fixture.runtime.exit_errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(message_of(errors[0]), "failed");
}

TEST_F(ErrorDeliveryTest, TellsOfItsOwnCancellationBeforeThatOfAChild) {
  FERMATA_CHECKS("CORE-CO-05", "CORE-CN-02", "CORE-CN-11");
  std::string afterwards;
  run([&] {
    const auto child = spawn([] { delay(1h); });
    const auto waiter = spawn([&] {
      got = thrown_by([&] { await(child); });
      afterwards = thrown_by([] { suspend(); });
    });
    suspend();
    const Subscription canceller = cancel_when(*child, *waiter);
    child.cancel(reason("child only"));
    await(waiter);
  });
  EXPECT_EQ(got,
            "fermata::Cancellation: stop\n"
            "  previous: fermata::AwaitedCancelled: coroutine 2 was cancelled: child only\n"
            "  previous: fermata::Cancellation: child only");
  EXPECT_EQ(afterwards, "") << "delivered once";
}

TEST_F(ErrorDeliveryTest, TellsOfItsOwnCancellationBeforeThatOfAToken) {
  FERMATA_CHECKS("CORE-CO-05", "CORE-CN-02");
  run([this] {
    const auto never = make_event<PlainEvent>(runtime);
    const auto token = make_event<PlainEvent>(runtime);
    const auto waiter = spawn([&] { got = thrown_by([&] { wait(*never, {{}, token.get()}); }); });
    suspend();
    const Subscription canceller = cancel_when(*token, *waiter);
    token->notify({});
    await(waiter);
  });
  EXPECT_EQ(got,
            "fermata::Cancellation: stop\n"
            "  previous: fermata::OperationCancelled: Operation has been cancelled");
}

TEST_F(ErrorDeliveryTest, TellsOfTheFirstOfTwoCancellationsOnly) {
  FERMATA_CHECKS("CORE-CO-05", "CORE-GL-13");
  run([this] {
    const auto child = spawn([] { delay(1h); });
    const auto waiter = spawn([&] { got = thrown_by([&] { await(child); }); });
    suspend();
    const Subscription canceller = cancel_when(*child, *waiter);
    const Subscription again =
        subscribe(*child, [&](Event&, const Outcome&) { waiter.cancel(reason("once more")); });
    child.cancel(reason("child only"));
    await(waiter);
  });
  EXPECT_EQ(got,
            "fermata::Cancellation: stop\n"
            "  previous: fermata::AwaitedCancelled: coroutine 2 was cancelled: child only\n"
            "  previous: fermata::Cancellation: child only");
}

TEST_F(ErrorDeliveryTest, CountsACancellationByItselfBeforeAProtectedRegion) {
  FERMATA_CHECKS("CORE-CO-05", "CORE-CO-06");
  std::vector<std::string> told;
  run([&] {
    const auto waiter = spawn([&] {
      current_coroutine().cancel(reason("myself"));
      told.push_back(thrown_by([] { protect([] { delay(1ms); }); }));
      told.push_back(thrown_by([] { suspend(); }));
      told.push_back(thrown_by([] { suspend(); }));
    });
    suspend();
    waiter.cancel(reason("another"));
    await(waiter);
  });
  EXPECT_EQ(told, (std::vector<std::string>{"", "fermata::Cancellation: myself", ""}));
}

TEST_F(ErrorDeliveryTest, GivesEachCoroutineOfASweepAChainOfItsOwn) {
  FERMATA_CHECKS("CORE-CN-06", "CORE-SC-13");
  std::vector<std::string> told;
  run([&] {
    const auto event = make_event<PlainEvent>(runtime);
    const auto other = make_event<PlainEvent>(runtime);
    for (PlainEvent* each : {event.get(), other.get()}) {
      spawn([&told, each] { told.push_back(thrown_by([&] { wait(*each); })); });
    }
    spawn([&] { told.push_back(thrown_by([] { delay(1h); })); });
    suspend();
    event->notify({nullptr, std::make_exception_ptr(Error("of one"))});
    other->notify({nullptr, std::make_exception_ptr(Error("of another"))});
    shutdown(reason("for all"));
    EXPECT_THROW(suspend(), Cancellation);
    suspend();
  });
  const std::string all = "fermata::Cancellation: for all";
  EXPECT_EQ(told,
            (std::vector<std::string>{all + "\n  previous: fermata::Error: of one",
                                      all + "\n  previous: fermata::Error: of another", all}));
}

TEST_F(ErrorDeliveryTest, KeepsAnErrorThatACancelledBodyCarriesOut) {
  FERMATA_CHECKS("CORE-CO-14", "CORE-CN-06");
  run([this] {
    const auto child = spawn([] {
      current_coroutine().cancel(reason("myself"));
      Cancellation out("of the body");
      out.set_previous(std::make_exception_ptr(Error("displaced")));
      throw out;
    });
    got = end_of(child);
  });
  EXPECT_EQ(got,
            "fermata::Cancellation: myself\n  previous: fermata::Cancellation: of the body\n"
            "  previous: fermata::Error: displaced");
}

}  // namespace
}  // namespace fermata::test
