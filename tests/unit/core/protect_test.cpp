// SPDX-License-Identifier: Apache-2.0

// protect(): cancellation waits for the end of the outermost region.

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
#include "tests/support/steps.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

std::exception_ptr reason(const char* text) { return std::make_exception_ptr(Cancellation(text)); }

class ProtectTest : public RuntimeFixture {};

MAIN_TEST_F(ProtectTest, DefersTheFirstCancellationToItsEnd) {
  FERMATA_CHECKS("CORE-CO-06", "CORE-CN-01");
  Steps steps;
  const auto child = spawn([&] {
    steps.push_back(thrown_by([&] {
      protect([&] {
        delay(10ms);
        suspend();
        steps.emplace_back("inside");
      });
      steps.emplace_back("never");
    }));
    steps.push_back(thrown_by([] { suspend(); }));
  });
  suspend();
  child.cancel(reason("first"));
  child.cancel(reason("second"));
  EXPECT_TRUE(child->is_cancellation_requested());
  EXPECT_FALSE(child->is_cancelled());
  await(child);
  EXPECT_EQ(steps, (Steps{"inside", "fermata::Cancellation: first", ""}));
}

MAIN_TEST_F(ProtectTest, ReachesToTheOutermostRegion) {
  FERMATA_CHECKS("CORE-CO-06");
  Steps steps;
  const auto child = spawn([&] {
    steps.push_back(thrown_by([&] {
      protect([&] {
        protect([] { delay(1ms); });
        steps.emplace_back("after inner");
        suspend();
        steps.emplace_back("still inside");
      });
    }));
  });
  suspend();
  child.cancel(reason("stop"));
  await(child);
  EXPECT_EQ(steps, (Steps{"after inner", "still inside", "fermata::Cancellation: stop"}));
}

MAIN_TEST_F(ProtectTest, CarriesTheErrorOfItsBodyAsPrevious) {
  const auto fails = [](bool cancelled) {
    return thrown_by([cancelled] {
      protect([cancelled] {
        if (cancelled) current_coroutine().cancel(reason("stop"));
        throw Error("failed");
      });
    });
  };
  EXPECT_EQ(fails(false), "fermata::Error: failed");
  EXPECT_EQ(fails(true), "fermata::Cancellation: stop\n  previous: fermata::Error: failed");
  suspend();
}

MAIN_TEST_F(ProtectTest, DefersAlsoOnesOwnCancellation) {
  EXPECT_EQ(thrown_by([] {
              protect([] {
                current_coroutine().cancel(reason("myself"));
                suspend();
              });
            }),
            "fermata::Cancellation: myself");
}

MAIN_TEST_F(ProtectTest, GivesItsResultUnlessCancelled) {
  EXPECT_EQ(protect([] { return std::string("kept"); }), "kept");
  EXPECT_THROW(protect([] {
                 current_coroutine().cancel();
                 return 1;
               }),
               Cancellation);
}

TEST_F(ProtectTest, IsClearedByAShutdown) {
  FERMATA_CHECKS("CORE-CO-06", "CORE-SC-13");
  Steps steps;
  fixture.run([&] {
    const auto child = spawn([&] {
      protect([&] {
        protect([&] { steps.push_back(thrown_by([] { delay(1h); })); });
        steps.push_back(thrown_by([] { suspend(); }));
      });
      steps.push_back(thrown_by([] { suspend(); }));
    });
    suspend();
    child.cancel(reason("dropped: the shutdown's comes in its place"));
    shutdown();
  });
  EXPECT_EQ(steps, (Steps{"fermata::Cancellation: Graceful shutdown", "", ""}));
}

TEST_F(ProtectTest, IsClearedByADeadlock) {
  FERMATA_CHECKS("CORE-CO-06", "CORE-SC-11");
  Steps steps;
  EXPECT_THROW(fixture.run([&] {
    const auto event = make_event<PlainEvent>(runtime);
    const auto child =
        spawn([&] { protect([&] { steps.push_back(thrown_by([&] { wait(*event); })); }); });
    await(child);
  }),
               DeadlockError);
  EXPECT_EQ(steps, (Steps{"fermata::Cancellation: Deadlock detected"}));
}

TEST_F(ProtectTest, IsForCoroutinesOnly) {
  FERMATA_CHECKS("CORE-GL-15");
  EXPECT_EQ(thrown_by([] { protect([] {}); }),
            "fermata::UsageError: no runtime is running on this thread: expected a call inside "
            "Runtime::run");
  fixture.run([this] {
    std::string refusal;
    const auto event = make_event<PlainEvent>(runtime);
    const auto subscription = subscribe(
        *event, [&](Event&, const Outcome&) { refusal = thrown_by([] { protect([] {}); }); });
    event->notify({});
    EXPECT_EQ(refusal,
              "fermata::UsageError: protect: the scheduler's own context and callbacks must not "
              "suspend");
  });
}

}  // namespace
}  // namespace fermata::test
