// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sim/record/failure.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/waits/explain.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/mutex.hpp"
#include "tests/support/checks.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

/// An event that code completes.
class Bell final : public Event {
 public:
  explicit Bell(Runtime& runtime) : Event(runtime, EventKind::Plain) {}
  ~Bell() override { shut(); }
  void dispose() noexcept override {}
};

/// An event on the heap.
class HeapBell final : public Event {
 public:
  explicit HeapBell(Runtime& runtime) : Event(runtime, EventKind::Plain) {}
};

class CheckTest : public ::testing::Test {
 protected:
  void run(const std::function<void()>& main, bool full_audit = false) {
    decisions_.begin(1);
    world_.reset({.faults = FaultSet::none(), .full_audit = full_audit});
    world_.node("main", main);
    world_.run();
  }

  /// What the audit says, at the latest after the next step, to `damage` done in a coroutine while
  /// another one sleeps and a third one is in the ready queue. `mend` undoes the damage before the
  /// programs are unwound.
  std::string complaint(const std::function<void(CoroutineBase& sleeper)>& damage,
                        const std::function<void(CoroutineBase& sleeper)>& mend) {
    run([&] {
      auto sleeper = spawn("sleeper", [] { delay(1h); });
      delay(1ms);
      const auto vandal = spawn("vandal", [&] {
        spawn("ready", [] {});
        damage(*sleeper);
        struct Mend {
          const std::function<void(CoroutineBase& sleeper)>& mend;
          CoroutineBase& sleeper;
          ~Mend() { mend(sleeper); }
        } const at_the_end{mend, *sleeper};
        for (int i = 0; i < 100; ++i) suspend();
        sleeper.cancel();
      });
      wait(*vandal);
    });
    return world_.failure() ? world_.failure()->message : "nothing";
  }

  /// Whether the last run has failed with a message that begins so and has `part`.
  ::testing::AssertionResult complains(std::string_view begin, std::string_view part = "") {
    const std::string said = world_.failure() ? world_.failure()->message : "nothing";
    const bool does = said.starts_with(begin) && said.find(part) != std::string::npos;
    return (does ? ::testing::AssertionSuccess() : ::testing::AssertionFailure()) << said;
  }

  std::unique_ptr<Strategy> strategy_ = make_strategy("fifo");
  Decisions decisions_{*strategy_};
  World world_{decisions_};
};

#define EXPECT_COMPLAINT(id, ...)                                               \
  do {                                                                          \
    const std::string said = complaint(__VA_ARGS__);                            \
    EXPECT_TRUE(said.starts_with(id ": ")) << "expected " id ", got: " << said; \
  } while (false)

TEST_F(CheckTest, SeesAWrongCountOfActiveEvents) {
  FERMATA_CHECKS("CORE-EV-01");
  EXPECT_COMPLAINT(
      "CORE-EV-01", [](CoroutineBase& c) { ++c.runtime().kernel().active_events; },
      [](CoroutineBase& c) { --c.runtime().kernel().active_events; });
  EXPECT_EQ(world_.failure()->verdict, Verdict::Safety);
  EXPECT_EQ(world_.failure()->coroutine, "vandal");
}

TEST_F(CheckTest, SeesAWaitForNothing) {
  FERMATA_CHECKS("CORE-GL-01");
  EXPECT_COMPLAINT(
      "CORE-GL-01", [](CoroutineBase& c) { c.waker().unsubscribe(); }, [](CoroutineBase&) {});
}

TEST_F(CheckTest, SeesALostSubscription) {
  FERMATA_CHECKS("CORE-WK-03", "CORE-GL-03");
  EXPECT_COMPLAINT(
      "CORE-WK-03",
      [](CoroutineBase& c) {
        Registration& registration = *c.waker().first();
        registration.source().remove_callback(registration);
      },
      [](CoroutineBase&) {});
}

TEST_F(CheckTest, SeesARegistrationThatSurvivesItsWait) {
  FERMATA_CHECKS("CORE-WK-03", "CORE-GL-02");
  const std::string said =
      complaint([](CoroutineBase& c) { c.waker().status = WakerStatus::Result; },
                [](CoroutineBase& c) { c.waker().status = WakerStatus::Waiting; });
  EXPECT_TRUE(said.starts_with("CORE-WK-03: ") || said.starts_with("CORE-GL-02: ")) << said;
}

TEST_F(CheckTest, SeesACoroutineThatSaysItIsQueuedAndIsNot) {
  FERMATA_CHECKS("CORE-WK-02");
  EXPECT_COMPLAINT(
      "CORE-WK-02",
      [](CoroutineBase& c) {
        c.waker().unsubscribe();
        c.waker().status = WakerStatus::Queued;
      },
      [](CoroutineBase& c) { c.waker().status = WakerStatus::Result; });
}

TEST_F(CheckTest, SeesAStolenLoopReference) {
  FERMATA_CHECKS("CORE-EV-02");
  EXPECT_COMPLAINT(
      "CORE-EV-02", [](CoroutineBase& c) { c.waker().first()->source().stop(); },
      [](CoroutineBase&) {});
}

TEST_F(CheckTest, SeesAWrongReferenceCountOfARegistration) {
  FERMATA_CHECKS("CORE-CB-06");
  EXPECT_COMPLAINT(
      "CORE-CB-06", [](CoroutineBase& c) { c.waker().first()->add_ref(); },
      [](CoroutineBase& c) { c.waker().first()->release(); });
}

TEST_F(CheckTest, SeesAOneShotThatFiresOpen) {
  FERMATA_CHECKS("CORE-EV-06");
  run([] {
    Timer timer(current_runtime(), 1h);
    timer.notify({});
    suspend();
  });
  EXPECT_TRUE(complains("CORE-EV-06: Timer #"));
}

TEST_F(CheckTest, SeesAFireAfterStop) {
  FERMATA_CHECKS("CORE-EV-16");
  run([] {
    Timer timer(current_runtime(), 1h, TimerMode::Periodic);
    timer.notify({});
    suspend();
  });
  EXPECT_TRUE(complains("CORE-EV-16: Timer #"));
}

TEST_F(CheckTest, SeesAPollThatMayBlockWhileACoroutineIsReady) {
  FERMATA_CHECKS("CORE-SC-08");
  run([] {
    spawn("ready", [] {});
    current_runtime().kernel().trace(Trace::Polled, nullptr, 1);
    suspend();
  });
  EXPECT_TRUE(complains("CORE-SC-08: "));
}

TEST_F(CheckTest, SeesAFalseDeadlock) {
  FERMATA_CHECKS("CORE-SC-10");
  run([] {
    spawn("ready", [] {});
    current_runtime().kernel().trace(Trace::DeadlockReported, nullptr, 2);
    suspend();
  });
  EXPECT_TRUE(complains("CORE-SC-10: "));
}

TEST_F(CheckTest, SeesADeadlockThatATimerWouldHaveEnded) {
  FERMATA_CHECKS("CORE-SC-10");
  run([] {
    const auto timer = make_timer(current_runtime(), Duration::zero());
    timer->set_hidden(true);
    timer->start();
    current_runtime().kernel().trace(Trace::Polled, nullptr, 0);
    current_runtime().kernel().trace(Trace::DeadlockReported, nullptr, 1);
    suspend();
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->message, "CORE-SC-10: a deadlock is reported though a timer is due");
}

TEST_F(CheckTest, SeesADeadlockWithoutALookAtTheReactor) {
  FERMATA_CHECKS("CORE-SC-10");
  run([] {
    const auto timer = make_timer(current_runtime(), Duration::zero());
    timer->set_hidden(true);
    suspend();
    timer->start();
    current_runtime().kernel().trace(Trace::DeadlockReported, nullptr, 1);
    suspend();
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->message, "CORE-SC-10: a deadlock is reported though a timer is due");
}

TEST_F(CheckTest, SeesAMiscountedDeadlock) {
  FERMATA_CHECKS("CORE-SC-12");
  run([] {
    current_runtime().kernel().trace(Trace::DeadlockReported, nullptr, 7);
    suspend();
  });
  EXPECT_TRUE(complains("CORE-SC-12: "));
}

TEST_F(CheckTest, SeesAForcedUnwindWhileNobodyEndsTheRun) {
  FERMATA_CHECKS("CORE-GL-09");
  run([] {
    const auto victim = spawn("victim", [] { throw ForcedUnwind{}; });
    wait(*victim);
  });
  EXPECT_TRUE(complains("CORE-GL-09: Coroutine 2 'victim' spawned at ",
                        " is unwound by force while nobody ends the run"));
}

TEST_F(CheckTest, SeesAWaitThatEndsWithNeitherAGrantNorAnError) {
  FERMATA_CHECKS("CORE-WK-07");
  run([] {
    Mutex mutex("ledger");
    mutex.lock();
    const auto waiter = spawn("waiter", [&] { EXPECT_THROW(mutex.lock(), Error); });
    suspend();
    current_runtime().scheduler().wake(*waiter, nullptr, nullptr, nullptr, WakeCause::Event);
    wait(*waiter);
    mutex.unlock();
  });
  EXPECT_TRUE(complains("CORE-WK-07: Coroutine 2 'waiter' spawned at ",
                        " with neither a grant nor an error"));
}

TEST_F(CheckTest, SeesACoroutineThatComesBackWithoutAnAnswer) {
  FERMATA_CHECKS("CORE-WK-03");
  run([] {
    const auto sleeper = spawn("sleeper", [] { delay(1h); });
    suspend();
    fermata::detail::Kernel& kernel = current_runtime().kernel();
    kernel.trace(Trace::Left, &current_coroutine(), 0);
    kernel.trace(Trace::Entered, &*sleeper, 0);
  });
  EXPECT_TRUE(complains("CORE-WK-03: Coroutine 2 'sleeper' spawned at ",
                        " with neither a grant nor an error: it waits for Timer #"));
}

TEST_F(CheckTest, AMisuseThatAnExceptionHidesFailsTheRun) {
  run([] {
    Mutex mutex("ledger");
    const auto thief = spawn("thief", [&] {
      try {
        const Mutex::Guard guard(mutex);
        mutex.unlock();
        delay(1ms);
        throw Error("hides it");
      } catch (const Error&) {
      }
    });
    suspend();
    mutex.lock();
    try {
      wait(*thief);
    } catch (...) {
      mutex.unlock();
      throw;
    }
    mutex.unlock();
  });
  EXPECT_TRUE(complains("fermata::UsageError: Mutex 'ledger' created at ",
                        ": unlock by 'thief': expected its holder, 'main' since "));
}

TEST_F(CheckTest, AcceptsCorrectProgramsAtEveryStep) {
  run(
      [] {
        Bell bell(current_runtime());
        std::vector<Coroutine<>> all;
        for (int i = 0; i < 40; ++i) {
          all.push_back(spawn("worker", [&bell, i] {
            delay(std::chrono::microseconds(i % 7));
            if (i % 3 == 0) wait(bell);
            suspend();
          }));
        }
        delay(1ms);
        all[0].cancel();
        bell.notify({});
        for (const auto& each : all) {
          try {
            wait(*each);
          } catch (const Cancellation&) {
          }
        }
      },
      true);
  EXPECT_FALSE(world_.failure()) << world_.failure()->message;
}

TEST_F(CheckTest, HashesTheSameWithAndWithoutTheFullAudit) {
  const auto program = [] {
    auto sleeper = spawn([] { delay(3ms); });
    suspend();
    wait(*sleeper);
  };
  run(program);
  const std::uint64_t lean = world_.trace_hash();
  const std::uint64_t steps = world_.steps();
  run(program, true);
  EXPECT_EQ(world_.trace_hash(), lean);
  EXPECT_EQ(world_.steps(), steps);
}

TEST_F(CheckTest, RecordsTheHashAfterEachStep) {
  decisions_.begin(1);
  world_.reset({.record_steps = true});
  world_.node("main", [] { suspend(); });
  world_.run();
  EXPECT_EQ(world_.step_hashes().size(), world_.steps());
  EXPECT_GE(world_.steps(), 2u);
}

TEST_F(CheckTest, ExplainsAnOrphan) {
  run([] {
    auto& bell = *new HeapBell(current_runtime());
    current_coroutine().waker().resume_when(bell, WakeRule::Resolve, true);
    current_runtime().scheduler().suspend(SourcePlace::current());
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Deadlock);
  EXPECT_NE(world_.failure()->explanation.find("orphan: nobody but its waiters refers to Event #"),
            std::string::npos)
      << world_.failure()->explanation;
}

TEST_F(CheckTest, ExplainsALostWakeUp) {
  run([] {
    Bell bell(current_runtime());
    auto ringer = spawn("ringer", [&] { bell.notify({}); });
    wait(*ringer);
    wait(bell);
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Deadlock);
  EXPECT_NE(world_.failure()->explanation.find("lost wake-up: nobody is left to fire Event #"),
            std::string::npos)
      << world_.failure()->explanation;
  EXPECT_NE(world_.failure()->explanation.find("suspended at"), std::string::npos);
}

TEST_F(CheckTest, ADeadlockEndsTheRunAtOnce) {
  run([] {
    Bell bell(current_runtime());
    delay(7ms);
    try {
      wait(bell);
    } catch (const Cancellation&) {
      delay(5ms);
    }
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Deadlock);
  EXPECT_EQ(world_.failure()->at, Instant{} + 7ms);
  EXPECT_EQ(world_.now(), Instant{} + 7ms);
}

TEST_F(CheckTest, UnwindsWhatUsesAStackBeforeTheStack) {
  run([] {
    std::vector<int> local(1, 7);
    Bell bell(current_runtime());
    const auto user = spawn("user", [&] {
      const struct Look {
        std::vector<int>& values;
        ~Look() { EXPECT_EQ(values.at(0), 7); }
      } look{local};
      wait(bell);
    });
    wait(*user);
  });
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Deadlock);
}

}  // namespace
}  // namespace fermata::sim
