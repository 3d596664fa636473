// SPDX-License-Identifier: Apache-2.0

// Finally handlers: each once, in order, before the awaiters, whatever the end.

#include <gtest/gtest.h>

#include <memory>
#include <set>
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

class FinallyTest : public RuntimeFixture {
 protected:
  [[nodiscard]] FinallyHandler noting(std::string step) {
    return [this, step = std::move(step)](CoroutineBase&) { steps.push_back(step); };
  }

  Steps steps;
};

TEST_F(FinallyTest, RunsInOrderAfterTheBodyAndBeforeTheAwaiters) {
  FERMATA_CHECKS("CORE-CO-07", "CORE-CO-08", "CORE-GL-10");
  struct AtFinish final : backend::SwitchHandler {
    explicit AtFinish(Steps& where) : noted(where) {}
    bool on_switch(CoroutineBase&, backend::SwitchMoment moment) override {
      if (moment == backend::SwitchMoment::Finish) noted.emplace_back("finish handler");
      return true;
    }
    Steps& noted;
  };
  fixture.run([this] {
    const auto child = spawn([this] {
      suspend();
      steps.emplace_back("body");
    });
    child->add_switch_handler(std::make_shared<AtFinish>(steps));
    for (const char* name : {"first", "second", "third"}) child->finally(noting(name));
    const auto awaiter = spawn([&] {
      await(child);
      steps.emplace_back("awaiter");
    });
    await(awaiter);
    suspend();
  });
  EXPECT_EQ(steps, (Steps{"body", "finish handler", "first", "second", "third", "awaiter"}));
}

TEST_F(FinallyTest, LetsTheNextStartWhileOneIsSuspended) {
  FERMATA_CHECKS("CORE-CO-07", "CORE-CO-08");
  fixture.run([this] {
    const auto child = spawn([] {});
    child->finally([this](CoroutineBase&) {
      steps.emplace_back("slow starts");
      delay(10ms);
      steps.emplace_back("slow ends");
    });
    child->finally(noting("second"));
    child->finally(noting("third"));
    await(child);
    steps.emplace_back("awaiter");
    delay(20ms);
  });
  EXPECT_EQ(steps, (Steps{"slow starts", "second", "third", "awaiter", "slow ends"}));
}

TEST_F(FinallyTest, RunsWhateverTheEnd) {
  FERMATA_CHECKS("CORE-GL-10", "CORE-CO-03");
  fixture.run([this] {
    const auto returns = spawn([] {});
    const auto throws = spawn([] { throw Error("x"); });
    const auto cancelled = spawn([] { delay(1h); });
    const auto never_ran = spawn([] {});
    returns->finally(noting("returns"));
    throws->finally(noting("throws"));
    cancelled->finally(noting("cancelled"));
    never_ran->finally(noting("never ran"));
    never_ran.cancel();
    suspend();
    EXPECT_THROW(await(throws), Error);
    cancelled.cancel();
    suspend();
    suspend();
  });
  EXPECT_EQ(std::multiset<std::string>(steps.begin(), steps.end()),
            (std::multiset<std::string>{"cancelled", "never ran", "returns", "throws"}));
}

MAIN_TEST_F(FinallyTest, RunsAtOnceOnAFinishedCoroutine) {
  FERMATA_CHECKS("CORE-CO-07", "CORE-GL-15");
  const auto child = spawn([] { return 3; });
  await(child);
  std::string refusal;
  child->finally([&](CoroutineBase& ended) {
    EXPECT_EQ(&ended, &*child);
    refusal = thrown_by([] { suspend(); });
    steps.emplace_back("at once");
  });
  EXPECT_EQ(steps, (Steps{"at once"}));
  EXPECT_EQ(refusal,
            "fermata::UsageError: suspend: the scheduler's own context and callbacks must not "
            "suspend");
  EXPECT_THROW(child->finally([](CoroutineBase&) { throw Error("of a late handler"); }), Error);
}

TEST_F(FinallyTest, ReportsTheErrorOfOneHandlerItself) {
  EXPECT_EQ(thrown_by([this] {
              fixture.run([this] {
                const auto child = spawn("job", [] { return 7; });
                child->finally([](CoroutineBase&) { throw Error("clean-up failed"); });
                child->finally(noting("the next one runs"));
                EXPECT_EQ(await(child), 7) << "the outcome is not replaced";
              });
            }),
            "fermata::Error: clean-up failed");
  EXPECT_EQ(steps, (Steps{"the next one runs"}));
}

TEST_F(FinallyTest, ReportsTheErrorsOfSeveralTogetherInOrder) {
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                const auto child = spawn([] {});
                child->finally([](CoroutineBase&) { throw Error("first"); });
                child->finally([](CoroutineBase&) { throw Error("second"); });
                await(child);
              });
            }),
            "fermata::CompositeError: 2 errors; first; second");
  EXPECT_EQ(runtime.exit_errors().size(), 1u);
}

TEST_F(FinallyTest, CollectsErrorsAlsoFromHandlersThatSuspend) {
  EXPECT_EQ(thrown_by([this] {
              fixture.run([] {
                const auto child = spawn([] {});
                child->finally([](CoroutineBase&) {
                  delay(1ms);
                  throw Error("late");
                });
                child->finally([](CoroutineBase&) { throw Error("early"); });
                await(child);
                delay(5ms);
              });
            }),
            "fermata::CompositeError: 2 errors; early; late");
}

TEST_F(FinallyTest, MayRegisterAnotherFromInside) {
  FERMATA_CHECKS("CORE-CO-07");
  fixture.run([this] {
    const auto child = spawn([] {});
    child->finally([this](CoroutineBase& ended) {
      steps.emplace_back("outer");
      ended.finally(noting("inner, at once"));
      steps.emplace_back("outer goes on");
      current_coroutine().finally(noting("of the handler's own coroutine"));
    });
    await(child);
    suspend();
    suspend();
  });
  EXPECT_EQ(steps,
            (Steps{"outer", "inner, at once", "outer goes on", "of the handler's own coroutine"}));
}

TEST_F(FinallyTest, MayAwaitAndSpawn) {
  fixture.run([this] {
    const auto child = spawn([] {});
    child->finally([this](CoroutineBase&) {
      EXPECT_EQ(await(spawn([] {
                  delay(1ms);
                  return 5;
                })),
                5);
      steps.emplace_back("awaited");
    });
    await(child);
    delay(10ms);
  });
  EXPECT_EQ(steps, (Steps{"awaited"}));
}

TEST_F(FinallyTest, RunsAfterADeadlockAndAShutdown) {
  FERMATA_CHECKS("CORE-SC-11", "CORE-GL-10");
  EXPECT_THROW(fixture.run([this] {
    const auto event = make_event<PlainEvent>(runtime);
    const auto child = spawn([&] { wait(*event); });
    child->finally(noting("after the deadlock"));
    wait(*event);
  }),
               DeadlockError);
  fixture.run([this] {
    const auto child = spawn([] { delay(1h); });
    child->finally(noting("after the shutdown"));
    const auto never_started = spawn([] {});
    never_started->finally(noting("of one that never started"));
    shutdown();
  });
  EXPECT_EQ(steps,
            (Steps{"after the deadlock", "after the shutdown", "of one that never started"}));
}

TEST_F(FinallyTest, HoldsTheCoroutineUntilItHasRun) {
  fixture.run([this] {
    {
      const auto child = spawn("job", [] { return 9; });
      child->finally([this](CoroutineBase& ended) {
        delay(1ms);
        steps.push_back(ended.label() + (ended.is_completed() ? " completed" : ""));
      });
    }
    delay(10ms);
  });
  EXPECT_EQ(steps, (Steps{"job completed"}));
}

}  // namespace
}  // namespace fermata::test
