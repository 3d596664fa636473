// SPDX-License-Identifier: Apache-2.0

// Deadlocks: found when, and only when, nobody can ever run again; then everybody is cancelled.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/steps.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHit = "fermata::Cancellation: Deadlock detected";

std::string report(int waiting) {
  return "fermata::DeadlockError: Deadlock detected: no active coroutines, " +
         std::to_string(waiting) + " coroutines in waiting";
}

class DeadlockTest : public RuntimeFixture {
 protected:
  template <class Body>
  std::string run(Body body) {
    return thrown_by([&] { fixture.run(body); });
  }

  Steps steps;
};

TEST_F(DeadlockTest, OfTwoThatAwaitEachOtherIsReportedAndResolved) {
  FERMATA_CHECKS("CORE-SC-10", "CORE-SC-11", "CORE-SC-12", "EVT-09");
  const std::string thrown = run([this] {
    Coroutine<> first;
    Coroutine<> second;
    first = spawn("first", [&] { steps.push_back(thrown_by([&] { await(second); })); });
    second = spawn("second", [&] { steps.push_back(thrown_by([&] { await(first); })); });
    await(first);
    await(second);
  });
  EXPECT_EQ(thrown, report(3));
  EXPECT_EQ(steps, (Steps{kHit, kHit}));
  EXPECT_EQ(runtime.metrics().deadlocks, 1u);
}

TEST_F(DeadlockTest, ReportSaysWhoWaitsForWhatAndWhere) {
  run([this] {
    const auto event = make_event<PlainEvent>(runtime);
    const auto child = spawn("consumer", [&] { wait(*event); });
    suspend();
  });
  EXPECT_NE(fixture.log.find("Deadlock detected: no active coroutines, 1 coroutines in waiting\n"),
            std::string::npos)
      << fixture.log;
  EXPECT_NE(fixture.log.find("'consumer' spawned at tests/unit/core/deadlock_test.cpp:"),
            std::string::npos);
  EXPECT_NE(fixture.log.find(", suspended at tests/unit/core/deadlock_test.cpp:"),
            std::string::npos);
  EXPECT_NE(fixture.log.find("\n  waits for Event #"), std::string::npos);
}

TEST_F(DeadlockTest, OfMainAloneIsFoundToo) {
  FERMATA_CHECKS("CORE-SC-10", "CORE-SC-12");
  EXPECT_EQ(run([this] { wait(*make_event<PlainEvent>(runtime)); }), report(1));
}

TEST_F(DeadlockTest, GivesEachCoroutineOneCancellationARound) {
  FERMATA_CHECKS("CORE-SC-11");
  int hits = 0;
  const std::string thrown = run([&] {
    const auto event = make_event<PlainEvent>(runtime);
    for (int i = 0; i < 5; ++i) {
      spawn([&, event] {
        try {
          wait(*event);
        } catch (const Cancellation&) {
          ++hits;
        }
        suspend();
      });
    }
    suspend();
  });
  EXPECT_EQ(hits, 5);
  EXPECT_EQ(thrown, report(5));
}

TEST_F(DeadlockTest, EndsAlsoWhenSomebodyCatchesAndWaitsAgain) {
  FERMATA_CHECKS("CORE-SC-11", "CORE-GL-09");
  const std::string thrown = run([this] {
    const auto event = make_event<PlainEvent>(runtime);
    for (int i = 0; i < 6; ++i) steps.push_back(thrown_by([&] { wait(*event); }));
  });
  const std::string forced =
      "fermata::Cancellation: Coroutine must end: it has ignored its cancellation";
  EXPECT_EQ(steps, (Steps{kHit, kHit, kHit, forced, forced, forced}));
  EXPECT_EQ(runtime.metrics().deadlocks, 3u);
  EXPECT_EQ(thrown, report(1) + "\n  previous: " + report(1) + "\n  previous: " + report(1));
}

TEST_F(DeadlockTest, IsNotHiddenByAHiddenTimer) {
  FERMATA_CHECKS("CORE-EV-11", "CORE-SC-10");
  EXPECT_EQ(run([this] {
              Timer hidden(runtime, 10ms);
              hidden.set_hidden(true);
              wait(hidden);
            }),
            report(1));
}

TEST_F(DeadlockTest, IsNotReportedWhileAVisibleEventIsActive) {
  FERMATA_CHECKS("CORE-SC-10", "CORE-EV-11");
  EXPECT_EQ(run([this] {
              const auto event = make_event<PlainEvent>(runtime);
              const auto waiter = spawn([&] { wait(*event); });
              delay(1h);
              event->notify({});
              await(waiter);
            }),
            "");
  EXPECT_EQ(fixture.log, "");
  EXPECT_EQ(runtime.metrics().deadlocks, 0u);
}

TEST_F(DeadlockTest, IsAFalseAlarmWhenTheLastLookWakesSomebody) {
  FERMATA_CHECKS("CORE-SC-10");
  EXPECT_EQ(run([this] {
              const auto event = make_event<PlainEvent>(runtime);
              fixture.reactor->on_turn = [this, event] {
                if (runtime.current() == nullptr) event->notify({});
              };
              wait(*event);
              fixture.reactor->on_turn = nullptr;
            }),
            "");
  EXPECT_EQ(runtime.metrics().deadlocks, 0u);
}

TEST_F(DeadlockTest, IsAFalseAlarmWhenTheLastLookQueuesWork) {
  FERMATA_CHECKS("CORE-SC-10");
  struct Waker final : backend::Microtask {
    explicit Waker(Event& which) : event(which) {}
    void run() override { event.notify({}); }
    Event& event;
  };
  EXPECT_EQ(run([this] {
              const auto event = make_event<PlainEvent>(runtime);
              fixture.reactor->on_turn = [this, event] {
                if (runtime.current() != nullptr) return;
                auto* task = new Waker(*event);
                runtime.queue_microtask(*task);
                task->release();
              };
              wait(*event);
              fixture.reactor->on_turn = nullptr;
            }),
            "");
}

TEST_F(DeadlockTest, LetsCleanUpRunAndSpawnAndSleep) {
  FERMATA_CHECKS("CORE-SC-11");
  const std::string thrown = run([this] {
    const auto event = make_event<PlainEvent>(runtime);
    const auto child = spawn([&] {
      try {
        wait(*event);
      } catch (const Cancellation&) {
        delay(10ms);
        EXPECT_EQ(await(spawn([] { return 4; })), 4) << "the runtime is not shutting down";
        steps.emplace_back("cleaned up");
        throw;
      }
    });
    child->finally([this](CoroutineBase&) {
      delay(1ms);
      steps.emplace_back("finally");
    });
    EXPECT_THROW(await(child), Cancellation);
    delay(100ms);
  });
  EXPECT_EQ(steps, (Steps{"cleaned up", "finally"}));
  EXPECT_EQ(thrown, report(2));
}

TEST_F(DeadlockTest, GivesUpOnWhoCannotBeCancelled) {
  FERMATA_CHECKS("CORE-GL-09", "CORE-SC-14");
  // The clean-up of each coroutine waits forever too, and has a clean-up of its own.
  const auto never = make_event<PlainEvent>(runtime);
  int generation = 0;
  std::function<void(CoroutineBase&)> clean_up = [&](CoroutineBase&) {
    if (++generation < 10) current_coroutine().finally(clean_up);
    wait(*never);
  };
  const std::string thrown = run([&] {
    const auto child = spawn([&] { wait(*never); });
    child->finally(clean_up);
    EXPECT_THROW(await(child), Cancellation);
  });
  // The main coroutine, its child and the clean-ups have ids in this order.
  EXPECT_TRUE(
      thrown.starts_with("fermata::DeadlockError: Deadlock not resolved after 4 rounds: abandoned "
                         "coroutines 6\n"))
      << thrown;
  EXPECT_TRUE(runtime.registry().empty());
  EXPECT_EQ(runtime.scheduler().contexts().stats().live, 0u);
}

TEST_F(DeadlockTest, DoesNotSpoilTheNextRun) {
  run([this] { wait(*make_event<PlainEvent>(runtime)); });
  EXPECT_EQ(fixture.run([] {
    delay(1ms);
    return 5;
  }),
            5);
  EXPECT_TRUE(runtime.exit_errors().empty());
}

}  // namespace
}  // namespace fermata::test
