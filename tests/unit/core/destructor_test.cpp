// SPDX-License-Identifier: Apache-2.0

// Destructors that wait while an exception unwinds the stack, in each end that a run can have.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
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
#include "tests/support/steps.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// Does something in its destructor.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> action) : action_(std::move(action)) {}
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() { action_(); }

 private:
  std::function<void()> action_;
};

class DestructorTest : public RuntimeFixture {
 protected:
  template <class Body>
  std::string run(Body body) {
    return thrown_by([&] { fixture.run(body); });
  }
  /// Throws, and runs `action` in a destructor because of it.
  static void unwind_through(const std::function<void()>& action) {
    const AtEnd at_end(action);
    throw Error("failed");
  }
  /// A coroutine that waits for `never` in a destructor, and notes what comes after.
  Coroutine<> spawn_waiting() {
    return spawn("waiting", [this] {
      steps.push_back(thrown_by([this] { unwind_through([this] { wait_for_ever(); }); }));
      try {
        suspend();
      } catch (...) {
        steps.push_back(describe(std::current_exception()));
        throw;
      }
    });
  }
  void wait_for_ever() {
    steps.push_back(thrown_by([this] { wait(*never); }));
  }
  void expect_nothing_left() {
    EXPECT_TRUE(runtime.registry().empty());
    EXPECT_EQ(never->callbacks().size(), 0u);
    EXPECT_EQ(runtime.active_event_count(), 0u);
    EXPECT_EQ(runtime.scheduler().contexts().stats().live, 0u);
    EXPECT_EQ(runtime.blocks().blocks_in_use(), 0u);
  }

  Ref<BackendEvent> never = make_event<BackendEvent>(runtime);
  Steps steps;
};

TEST_F(DestructorTest, IsLeftAloneByACancellation) {
  FERMATA_CHECKS("CORE-GL-15", "CORE-CN-01");
  EXPECT_EQ(run([this] {
              const auto waiting = spawn_waiting();
              suspend();
              waiting.cancel();
              delay(1h);
              EXPECT_TRUE(steps.empty());
              never->notify({});
              EXPECT_THROW(await(waiting), Cancellation);
            }),
            "");
  EXPECT_EQ(steps,
            (Steps{"", "fermata::Error: failed", "fermata::Cancellation: Coroutine cancelled"}));
  expect_nothing_left();
}

TEST_F(DestructorTest, EndsWhenADeadlockCannotBeResolved) {
  FERMATA_CHECKS("CORE-GL-09", "CORE-GL-15", "CORE-SC-14");
  const auto promise = make_event<PlainEvent>(runtime);
  const std::string thrown = run([&] {
    spawn([&] {
      steps.push_back(thrown_by(
          [&] { unwind_through([&] { steps.push_back(thrown_by([&] { wait(*promise); })); }); }));
    });
  });
  EXPECT_EQ(steps, (Steps{"", "fermata::Error: failed"}));
  EXPECT_NE(thrown.find("Deadlock not resolved after 4 rounds"), std::string::npos) << thrown;
  EXPECT_EQ(promise->callbacks().size(), 0u);
  expect_nothing_left();
}

TEST_F(DestructorTest, EndsWhenAShutdownHasNoMoreTime) {
  FERMATA_CHECKS("CORE-GL-09", "CORE-GL-15", "CORE-SC-14");
  EXPECT_EQ(run([this] {
              spawn_waiting();
              suspend();
              shutdown();
            }),
            "");
  EXPECT_EQ(steps, (Steps{"", "fermata::Error: failed", "fermata::ForcedUnwind"}));
  EXPECT_EQ(fixture.log, "the shutdown deadline has passed: ending by force\n");
  expect_nothing_left();
}

TEST_F(DestructorTest, EndsWhenTheEndIsForced) {
  FERMATA_CHECKS("CORE-GL-09", "CORE-GL-15", "CORE-SC-14");
  EXPECT_EQ(run([this] {
              spawn_waiting();
              spawn([] { delay(1h); })->finally([](CoroutineBase&) { throw Error("second"); });
              suspend();
              throw Error("first");
            }),
            "fermata::Error: second\n  previous: fermata::Error: first");
  EXPECT_EQ(steps, (Steps{"", "fermata::Error: failed", "fermata::ForcedUnwind"}));
  expect_nothing_left();
}

TEST_F(DestructorTest, IsTheLastThingThatACoroutineDoesThen) {
  FERMATA_CHECKS("CORE-GL-09", "CORE-SC-14");
  EXPECT_EQ(run([this] {
              spawn([this] {
                try {
                  unwind_through([this] { wait_for_ever(); });
                } catch (const Error&) {
                  steps.emplace_back("caught");
                }
                for (;;) delay(1h);
              });
              suspend();
              shutdown();
            }),
            "");
  EXPECT_EQ(steps, (Steps{"", "caught"}));
  expect_nothing_left();
}

// --- on a normal exit ---

/// Waits in its destructor, whatever the way out.
class WaitsAtEnd : public AtEnd {
 public:
  explicit WaitsAtEnd(std::function<void()> wait)
      : AtEnd([action = std::move(wait)] { protect_in_destructor(action); }) {}
};

/// A coroutine that waits for 10 ms in a destructor on its normal way, and notes what comes after.
Coroutine<> spawn_leaving(Steps& steps) {
  return spawn("leaving", [&steps] {
    {
      const WaitsAtEnd guard([&steps] {
        steps.push_back("waits" + thrown_by([] { delay(10ms); }));
        steps.push_back("again" + thrown_by([] { suspend(); }));
      });
    }
    steps.emplace_back("goes on");
    steps.push_back(thrown_by([] { suspend(); }));
    steps.push_back(thrown_by([] { suspend(); }));
  });
}

TEST_F(DestructorTest, KeepsACancellationPendingOnANormalExit) {
  FERMATA_CHECKS("CORE-GL-15", "CORE-CN-01", "CORE-CO-05");
  EXPECT_EQ(run([this] {
              const auto leaving = spawn_leaving(steps);
              suspend();
              leaving.cancel();
              leaving.cancel();
              EXPECT_TRUE(leaving->is_cancellation_requested());
              await(leaving);
            }),
            "");
  EXPECT_EQ(steps,
            (Steps{"waits", "again", "goes on", "fermata::Cancellation: Coroutine cancelled", ""}));
}

TEST_F(DestructorTest, KeepsWhatCameBeforePendingToo) {
  EXPECT_EQ(
      run([this] {
        await(spawn([this] {
          {
            const WaitsAtEnd guard([this] { steps.push_back(thrown_by([] { delay(1ms); })); });
            current_coroutine().cancel();
          }
          steps.push_back(thrown_by([] { suspend(); }));
        }));
      }),
      "");
  EXPECT_EQ(steps, (Steps{"", "fermata::Cancellation: Coroutine cancelled"}));
}

TEST_F(DestructorTest, ACancellationThatNobodyMeetsIsTheOutcome) {
  EXPECT_EQ(run([] {
              const auto leaving = spawn([] { const WaitsAtEnd guard([] { delay(10ms); }); });
              suspend();
              leaving.cancel();
              EXPECT_THROW(await(leaving), Cancellation);
              EXPECT_TRUE(leaving->is_cancelled());
            }),
            "");
}

TEST_F(DestructorTest, IsLeftAloneByAShutdownOnANormalExit) {
  FERMATA_CHECKS("CORE-GL-15", "CORE-SC-13");
  EXPECT_EQ(run([this] {
              spawn_leaving(steps);
              suspend();
              shutdown();
            }),
            "");
  EXPECT_EQ(steps,
            (Steps{"waits", "again", "goes on", "fermata::Cancellation: Graceful shutdown", ""}));
}

TEST_F(DestructorTest, IsLeftAloneByADeadlockOnANormalExit) {
  FERMATA_CHECKS("CORE-GL-15", "CORE-SC-11");
  const auto promise = make_event<PlainEvent>(runtime);
  const std::string thrown = run([&] {
    spawn([&] {
      {
        const WaitsAtEnd guard([&] { steps.push_back(thrown_by([&] { wait(*promise); })); });
      }
      steps.push_back(thrown_by([] { suspend(); }));
    });
  });
  EXPECT_EQ(steps, (Steps{"", "fermata::ForcedUnwind"}));
  EXPECT_NE(thrown.find("Deadlock not resolved after 4 rounds"), std::string::npos) << thrown;
  expect_nothing_left();
}

TEST_F(DestructorTest, EndsOnANormalExitWhenTheEndIsForced) {
  FERMATA_CHECKS("CORE-GL-09", "CORE-SC-14");
  EXPECT_EQ(run([this] {
              spawn([this] {
                {
                  const WaitsAtEnd guard([this] {
                    wait_for_ever();
                    steps.push_back(thrown_by([] { delay(1h); }));
                  });
                }
                suspend();
                steps.emplace_back("never");
              });
              suspend();
              shutdown();
            }),
            "");
  EXPECT_EQ(steps, (Steps{"", ""}));
  EXPECT_EQ(fixture.log, "the shutdown deadline has passed: ending by force\n");
  expect_nothing_left();
}

TEST_F(DestructorTest, KeepsWhatAProtectInItHasPutOff) {
  FERMATA_CHECKS("CORE-CO-06");
  EXPECT_EQ(run([this] {
              const auto protects = [this] {
                steps.push_back("protects" + thrown_by([] { protect([] { delay(10ms); }); }));
              };
              const auto leaving = spawn([&] {
                { const WaitsAtEnd guard(protects); }
                steps.push_back(thrown_by([] { suspend(); }));
              });
              const auto failing = spawn([&] {
                steps.push_back(thrown_by([&] { unwind_through(protects); }));
                steps.push_back(thrown_by([] { suspend(); }));
              });
              suspend();
              leaving.cancel();
              failing.cancel();
              await(leaving);
              await(failing);
            }),
            "");
  EXPECT_EQ(steps, (Steps{"protects", "fermata::Cancellation: Coroutine cancelled", "protects",
                          "fermata::Error: failed", "fermata::Cancellation: Coroutine cancelled"}));
}

TEST_F(DestructorTest, LetsOutWhatItsOwnCallsThrow) {
  EXPECT_EQ(run([] {
              EXPECT_THROW(protect_in_destructor([] { throw Error("failed"); }), Error);
              EXPECT_EQ(protect_in_destructor([] { return 5; }), 5);
              current_coroutine().cancel();
              EXPECT_THROW(suspend(), Cancellation) << "the region has ended";
            }),
            "");
}

class CutRunTest : public ::testing::Test {
 protected:
  CutRunTest() : fixture(observed()) {}

  /// Runs `body` in a coroutine and cuts the run when `ready` is set; the run must end.
  void run(const std::function<void()>& body) {
    cutter.when = [this] { return ready; };
    EXPECT_EQ(thrown_by([&] {
                fixture.run([&] {
                  const auto child = spawn("guarded", body);
                  await(child);
                });
              }),
              "fermata::backend::AbandonRun");
    EXPECT_TRUE(fixture.runtime.registry().empty());
    EXPECT_EQ(fixture.runtime.blocks().blocks_in_use(), 0u);
    EXPECT_EQ(fixture.runtime.active_event_count(), 0u);
  }
  RuntimeOptions observed() {
    RuntimeOptions options;
    options.observer = &cutter;
    return options;
  }

  bool ready = false;
  Cutter cutter;
  TestRuntime fixture;
  Ref<BackendEvent> never = make_event<BackendEvent>(fixture.runtime);
  Steps steps;
};

TEST_F(CutRunTest, LetsADestructorJoin) {
  FERMATA_CHECKS("CORE-GL-15", "CORE-SC-14");
  run([this] {
    Coroutine<> worker;
    const AtEnd join([&] {
      worker.cancel();
      steps.push_back("joined" + thrown_by([&] { await(worker); }));
    });
    worker = spawn("worker", [this] {
      const AtEnd note([this] { steps.emplace_back("worker unwound"); });
      wait(*never);
    });
    suspend();
    ready = true;
    wait(*never);
  });
  EXPECT_EQ(steps, (Steps{"worker unwound", "joined"}));
}

TEST_F(CutRunTest, DeliversTheErrorOfWhatADestructorJoins) {
  FERMATA_CHECKS("CORE-CO-10");
  run([this] {
    Coroutine<> worker;
    const AtEnd join([&] { steps.push_back("joined: " + thrown_by([&] { await(worker); })); });
    worker = spawn("worker", [this] {
      try {
        wait(*never);
      } catch (...) {
        throw Error("cannot clean up");
      }
    });
    suspend();
    ready = true;
    wait(*never);
  });
  EXPECT_EQ(steps, (Steps{"joined: fermata::Error: cannot clean up"}));
  EXPECT_TRUE(fixture.runtime.exit_errors().empty()) << "it was taken";
}

TEST_F(CutRunTest, LetsADestructorYieldUntilTheOthersAreUnwound) {
  FERMATA_CHECKS("CORE-GL-15");
  run([this] {
    bool ended = false;
    const AtEnd spin([&] {
      while (!ended) suspend();
      delay(1h);
      steps.emplace_back("seen");
    });
    const auto worker = spawn("worker", [&] {
      const AtEnd note([&] { ended = true; });
      wait(*never);
    });
    suspend();
    ready = true;
    wait(*never);
  });
  EXPECT_EQ(steps, (Steps{"seen"}));
}

TEST_F(CutRunTest, AnswersADestructorThatWaitsForAnEventWithNothing) {
  FERMATA_CHECKS("CORE-GL-15");
  run([this] {
    const AtEnd acknowledged(
        [this] { steps.push_back("went on" + thrown_by([&] { wait(*never); })); });
    ready = true;
    wait(*never);
  });
  EXPECT_EQ(steps, (Steps{"went on"}));
  EXPECT_EQ(fixture.log, "");
}

TEST_F(CutRunTest, BreaksACircleOfDestructors) {
  FERMATA_CHECKS("CORE-GL-15");
  run([this] {
    Coroutine<> other;
    const auto me = Ref<CoroutineBase>::share(current_coroutine());
    const AtEnd join([&] {
      try {
        await(other);
      } catch (const ForcedUnwind&) {
        steps.emplace_back("circle broken");
      }
    });
    other = spawn("other", [&] {
      const AtEnd join_first([&] { steps.push_back(thrown_by([&] { wait(*me); })); });
      wait(*never);
    });
    suspend();
    ready = true;
    wait(*never);
  });
  EXPECT_EQ(steps, (Steps{"circle broken", ""}));
  EXPECT_NE(fixture.log.find("'guarded' spawned at"), std::string::npos) << fixture.log;
  EXPECT_NE(
      fixture.log.find(" waits in a destructor for something that can no longer happen: it gets a "
                       "ForcedUnwind, which ends the program unless it is caught there\n"),
      std::string::npos);
}

TEST_F(CutRunTest, LetsADestructorOnANormalExitJoin) {
  FERMATA_CHECKS("CORE-GL-15", "CORE-SC-14");
  run([this] {
    Coroutine<> worker;
    {
      const WaitsAtEnd join([&] { steps.push_back("joined" + thrown_by([&] { await(worker); })); });
      worker = spawn("worker", [this] {
        const AtEnd note([this] { steps.emplace_back("worker unwound"); });
        ready = true;
        wait(*never);
      });
    }
    steps.push_back(thrown_by([] { suspend(); }));
  });
  EXPECT_EQ(steps, (Steps{"worker unwound", "joined", "fermata::ForcedUnwind"}));
}

using CutRunDeathTest = CutRunTest;

TEST_F(CutRunDeathTest, SaysWhoseDestructorHasLetOutItsForcedUnwind) {
  EXPECT_DEATH(run([this] {
                 struct Plain {
                   ~Plain() { wait(event); }
                   Event& event;
                 };
                 ready = true;
                 const Plain plain{*never};
               }),
               "fermata: a destructor of coroutine 'guarded' spawned at .*destructor_test.cpp:"
               "[0-9]+ has let out the ForcedUnwind that it got where it waited, at "
               ".*destructor_test.cpp:[0-9]+ \\(~Plain\\), when the run ended by force because "
               "of the test; a destructor that waits uses fermata::protect_in_destructor");
}

TEST_F(CutRunDeathTest, EndsTheProgramWhenADestructorWaitsAgainWithoutEnd) {
  EXPECT_DEATH(run([this] {
                 const AtEnd stubborn([this] {
                   for (;;) wait(*never);
                 });
                 ready = true;
                 wait(*never);
               }),
               "");
  EXPECT_DEATH(run([this] {
                 const AtEnd deaf([this] {
                   for (;;) {
                     try {
                       wait(*never);
                     } catch (...) {
                     }
                   }
                 });
                 ready = true;
                 wait(*never);
               }),
               "");
}

}  // namespace
}  // namespace fermata::test
