// SPDX-License-Identifier: Apache-2.0

// Graceful shutdown: how it starts, whom it reaches, how it ends.

#include <gtest/gtest.h>

#include <functional>
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
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kStopped = "fermata::Cancellation: Graceful shutdown";

class ShutdownTest : public RuntimeFixture {
 protected:
  template <class Body>
  std::string run(Body body) {
    return thrown_by([&] { fixture.run(body); });
  }
  void sleep_noting() {
    steps.push_back(thrown_by([] { delay(1h); }));
  }

  Steps steps;
};

TEST_F(ShutdownTest, StartsWithAnUnhandledErrorAndReachesEverybody) {
  FERMATA_CHECKS("CORE-SC-13", "CORE-SC-15");
  bool started = false;
  EXPECT_EQ(run([&] {
              for (int i = 0; i < 3; ++i) spawn([this] { sleep_noting(); });
              suspend();
              spawn([] { throw Error("escaped"); });
              spawn([&] { started = true; });
              sleep_noting();
            }),
            "fermata::Error: escaped");
  EXPECT_EQ(steps, Steps(4, kStopped));
  EXPECT_FALSE(started) << "what had not started does not start";
}

TEST_F(ShutdownTest, HappensOnceHoweverOftenItIsAskedFor) {
  FERMATA_CHECKS("CORE-SC-13", "CORE-GL-13");
  EXPECT_EQ(run([this] {
              const auto child = spawn([this] {
                sleep_noting();
                steps.push_back(thrown_by([] { delay(1ms); }));
              });
              suspend();
              shutdown(std::make_exception_ptr(Cancellation("first")));
              shutdown(std::make_exception_ptr(Cancellation("second")));
              EXPECT_TRUE(runtime.scheduler().is_shutting_down());
            }),
            "");
  EXPECT_EQ(steps, (Steps{"fermata::Cancellation: first", ""})) << "the rest goes on as it likes";
}

TEST_F(ShutdownTest, LetsTheCallerRunToItsNextSuspension) {
  EXPECT_EQ(run([this] {
              shutdown();
              steps.emplace_back("still running");
              steps.push_back(thrown_by([] { suspend(); }));
              steps.push_back(thrown_by([] { suspend(); }));
            }),
            "");
  EXPECT_EQ(steps, (Steps{"still running", kStopped, ""}));
}

TEST_F(ShutdownTest, RefusesAReasonThatIsNoCancellation) {
  EXPECT_EQ(run([] { shutdown(std::make_exception_ptr(Error("x"))); }),
            "fermata::UsageError: shutdown: the reason must be a Cancellation");
  EXPECT_EQ(thrown_by([this] { runtime.shutdown(); }),
            "fermata::UsageError: shutdown: the runtime is not running");
}

TEST_F(ShutdownTest, CancelsAtOnceWhatIsSpawnedMeanwhile) {
  FERMATA_CHECKS("CORE-CO-03");
  run([this] {
    const auto child = spawn([this] {
      sleep_noting();
      const auto late = spawn([this] { steps.emplace_back("never"); });
      late->finally([this](CoroutineBase&) { steps.emplace_back("finally of the late one"); });
      steps.push_back(end_of(late));
    });
    suspend();
    shutdown();
  });
  EXPECT_EQ(steps, (Steps{kStopped, "finally of the late one", kStopped}));
}

TEST_F(ShutdownTest, LetsCleanUpSuspendAndAwait) {
  run([this] {
    spawn([this] {
      try {
        delay(1h);
      } catch (const Cancellation&) {
        delay(100ms);
        steps.emplace_back("cleaned up");
        throw;
      }
    });
    suspend();
    shutdown();
  });
  EXPECT_EQ(steps, (Steps{"cleaned up"}));
}

TEST_F(ShutdownTest, ChainsEveryUnhandledErrorNewestFirst) {
  FERMATA_CHECKS("CORE-SC-15", "CORE-CN-06", "CORE-GL-05");
  const auto failing_clean_up = [](const char* text) {
    return [text] {
      try {
        delay(1h);
      } catch (const Cancellation&) {
        throw Error(text);
      }
    };
  };
  EXPECT_EQ(run([&] {
              spawn(failing_clean_up("second"));
              spawn(failing_clean_up("third"));
              suspend();
              throw Error("first");
            }),
            "fermata::Error: third\n  previous: fermata::Error: second\n"
            "  previous: fermata::Error: first");
  EXPECT_EQ(runtime.exit_errors().size(), 3u);
}

TEST_F(ShutdownTest, EndsByForceAfterASecondErrorInCleanUp) {
  FERMATA_CHECKS("CORE-SC-15");
  EXPECT_EQ(run([this] {
              spawn([this] {
                sleep_noting();
                sleep_noting();
                sleep_noting();
              });
              const auto job = spawn([] { delay(1h); });
              job->finally([](CoroutineBase&) { throw Error("in finally"); });
              suspend();
              throw Error("first");
            }),
            "fermata::Error: in finally\n  previous: fermata::Error: first");
  EXPECT_EQ(steps, (Steps{kStopped, "fermata::Cancellation: Forced shutdown",
                          "fermata::Cancellation: Coroutine must end: it has ignored its "
                          "cancellation"}));
}

TEST_F(ShutdownTest, IsEndedByItsDeadline) {
  FERMATA_CHECKS("CORE-GL-09", "CORE-SC-14");
  Instant asked;
  run([&] {
    const auto never = make_event<BackendEvent>(runtime);
    spawn([this, never] {
      sleep_noting();
      steps.push_back(thrown_by([&] { wait(*never); }));
      steps.push_back(thrown_by([&] { wait(*never); }));
    });
    const auto job = spawn([] {});
    job->finally([this, never](CoroutineBase&) {
      for (int i = 0; i < 2; ++i) steps.push_back(thrown_by([&] { wait(*never); }));
    });
    suspend();
    suspend();
    asked = now();
    shutdown();
  });
  const std::string forced =
      "fermata::Cancellation: Coroutine must end: it has ignored its cancellation";
  EXPECT_EQ(steps, (Steps{kStopped, kStopped, "fermata::Cancellation: Forced shutdown",
                          "fermata::Cancellation: Forced shutdown", forced}));
  EXPECT_EQ(fixture.log, "the shutdown deadline has passed: ending by force\n");
  EXPECT_EQ(runtime.now() - asked, 5s);
  EXPECT_TRUE(runtime.registry().empty());
}

TEST_F(ShutdownTest, TakesTheDeadlineOfTheOptions) {
  RuntimeOptions options;
  options.shutdown_deadline = 30ms;
  TestRuntime impatient(options);
  Instant asked;
  impatient.run([&] {
    const auto never = make_event<BackendEvent>(impatient.runtime);
    spawn([never] {
      EXPECT_THROW(delay(1h), Cancellation);
      EXPECT_THROW(wait(*never), Cancellation);
    });
    suspend();
    asked = now();
    shutdown();
  });
  EXPECT_EQ(impatient.runtime.now() - asked, 30ms);
}

TEST_F(ShutdownTest, ForgetsItsDeadlineWhenItIsEndedByForceBefore) {
  EXPECT_EQ(run([this] {
              const auto stubborn = spawn([this] {
                sleep_noting();
                sleep_noting();
              });
              stubborn->finally([this](CoroutineBase&) {
                fixture.reactor->advance(10s);
                const int looks = fixture.reactor->turns;
                while (fixture.reactor->turns < looks + 2) suspend();
                steps.emplace_back("the deadline has passed");
              });
              spawn([] { delay(1h); })->finally([](CoroutineBase&) { throw Error("second"); });
              suspend();
              throw Error("first");
            }),
            "fermata::Error: second\n  previous: fermata::Error: first");
  EXPECT_EQ(steps,
            (Steps{kStopped, "fermata::Cancellation: Forced shutdown", "the deadline has passed"}));
  EXPECT_EQ(fixture.log, "");
}

TEST_F(ShutdownTest, DoesNotWaitForItsDeadlineWhenAllHaveEnded) {
  FERMATA_CHECKS("CORE-EV-11");
  const Instant start = runtime.now();
  fixture.run([] { shutdown(); });
  EXPECT_EQ(runtime.now(), start);
  EXPECT_EQ(runtime.timers().size(), 0u);
}

void at_depth(int depth, const std::function<void()>& action) {
  if (depth == 0) return action();
  suspend();
  at_depth(depth - 1, action);
}

TEST_F(ShutdownTest, ByExitUnwindsTheCallerFromAnyDepth) {
  struct Unwound {
    ~Unwound() { flag = true; }
    bool& flag;
  };
  bool unwound = false;
  EXPECT_EQ(fixture.run([&] {
    const auto sleeper = spawn([this] { sleep_noting(); });
    const auto deep = spawn([&] {
      const Unwound guard{unwound};
      at_depth(20, [] { exit_with(7); });
    });
    await(deep);
    await(sleeper);
    return 1;
  }),
            7);
  EXPECT_TRUE(unwound);
  EXPECT_EQ(steps, (Steps{kStopped}));
  EXPECT_TRUE(runtime.exit_errors().empty());
}

// The shutdown that it has begun cancels everybody else; it has its own end already.
TEST_F(ShutdownTest, WhoHasCalledExitMayWaitInItsCleanUp) {
  FERMATA_CHECKS("CORE-SC-13");
  EXPECT_EQ(fixture.run([&] {
    spawn([&] {
      try {
        exit_with(7);
      } catch (const Cancellation&) {
        const Instant before = now();
        steps.push_back("waits" + thrown_by([] { delay(3ms); }));
        EXPECT_EQ(now() - before, 3ms);
        steps.push_back("suspends" + thrown_by([] { suspend(); }));
        throw;
      }
    });
  }),
            7);
  EXPECT_EQ(steps, (Steps{"waits", "suspends"}));
  EXPECT_TRUE(runtime.exit_errors().empty());
}

}  // namespace
}  // namespace fermata::test
