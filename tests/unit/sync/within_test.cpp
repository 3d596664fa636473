// SPDX-License-Identifier: Apache-2.0

// Limits for code that waits more than once.

#include "fermata/sync/within.hpp"

#include <gtest/gtest.h>

#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/iterate.hpp"
#include "fermata/sync/mutex.hpp"
#include "fermata/sync/timeout.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/steps.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

class WithinTest : public RuntimeFixture {
 protected:
  void TearDown() override {
    EXPECT_EQ(runtime.active_event_count(), 0u);
    EXPECT_EQ(fixture.log, "");
  }
  /// Waits twice, and notes how each wait ends.
  void wait_twice(Duration each) {
    for (const char* name : {"first", "second"}) {
      try {
        delay(each);
        steps.push_back(name);
      } catch (const Cancellation&) {
        steps.push_back(std::string(name) + " is interrupted");
        throw;
      }
    }
  }

  Steps steps;
};

MAIN_TEST_F(WithinTest, LimitsAllWaitsTogether) {
  const Instant begin = now();
  const std::string error =
      thrown_by([&] { within({.timeout = 50ms}, [&] { wait_twice(30ms); }); });
  EXPECT_TRUE(error.starts_with("fermata::Timeout: ")) << error;
  EXPECT_NE(error.find("50"), error.npos) << error;
  EXPECT_EQ(now() - begin, 50ms);
  EXPECT_EQ(steps, (Steps{"first", "second is interrupted"}));
  EXPECT_EQ(runtime.active_event_count(), 0u);
}

MAIN_TEST_F(WithinTest, ReturnsWhatTheCodeReturnsInTime) {
  EXPECT_EQ(within({.timeout = 50ms},
                   [] {
                     delay(20ms);
                     return 5;
                   }),
            5);
  EXPECT_EQ(runtime.active_event_count(), 0u) << "no timer is left";
  delay(100ms);
  within({}, [&] { wait_twice(1ms); });
  EXPECT_EQ(steps, (Steps{"first", "second"}));
}

MAIN_TEST_F(WithinTest, EndsWithItsToken) {
  Promise<> stop;
  const Future<> stopped = stop.future();
  const auto waiter = spawn([&] {
    return thrown_by(
        [&] { within({.timeout = 1h, .token = &stopped.event()}, [&] { wait_twice(30ms); }); });
  });
  delay(40ms);
  stop.complete();
  EXPECT_EQ(await(waiter), "fermata::OperationCancelled: Operation has been cancelled");
  EXPECT_EQ(steps, (Steps{"first", "second is interrupted"}));
}

MAIN_TEST_F(WithinTest, IsToldOnceSoThatCleanUpMayWait) {
  const std::string error = thrown_by([&] {
    within({.timeout = 50ms}, [&] {
      try {
        delay(1h);
      } catch (const Cancellation&) {
        delay(10ms);
        steps.push_back("cleaned up");
        throw;
      }
    });
  });
  EXPECT_TRUE(error.starts_with("fermata::Timeout: ")) << error;
  EXPECT_EQ(steps, (Steps{"cleaned up"}));
}

MAIN_TEST_F(WithinTest, LetsOthersTellItFromTheirOwnCancellation) {
  const auto waiter =
      spawn([&] { return thrown_by([&] { within({.timeout = 50ms}, [] { delay(1h); }); }); });
  delay(10ms);
  waiter.cancel();
  EXPECT_EQ(await(waiter), "fermata::Cancellation: Coroutine cancelled");
  EXPECT_FALSE(current_coroutine().is_cancellation_requested());
}

MAIN_TEST_F(WithinTest, KeepsWhatTheCodeMakesOfIt) {
  const auto swallow = [] {
    try {
      delay(1h);
    } catch (const Cancellation&) {
    }
    return 7;
  };
  EXPECT_EQ(within({.timeout = 50ms}, swallow), 7);
  EXPECT_EQ(thrown_by([&] {
              within({.timeout = 50ms}, [&] {
                swallow();
                throw Error("gave up");
              });
            }),
            "fermata::Error: gave up");
}

MAIN_TEST_F(WithinTest, Nests) {
  for (const bool outer_first : {true, false}) {
    const Duration outer = outer_first ? 20ms : 50ms;
    const Duration inner = outer_first ? 50ms : 20ms;
    Instant begin = now();
    const std::string error = thrown_by([&] {
      within({.timeout = outer}, [&] {
        try {
          within({.timeout = inner}, [] { delay(1h); });
        } catch (const Timeout&) {
          steps.push_back("inner");
          delay(1h);
        }
      });
    });
    EXPECT_TRUE(error.starts_with("fermata::Timeout: ")) << error;
    EXPECT_EQ(now() - begin, outer);
  }
  EXPECT_EQ(steps, (Steps{"inner"}));
}

MAIN_TEST_F(WithinTest, TheOuterOneWinsWhenBothAreDue) {
  const std::string error = thrown_by([&] {
    within({.timeout = 20ms}, [&] {
      try {
        within({.timeout = 10ms}, [&] {
          protect([] { delay(30ms); });
          delay(1h);
        });
      } catch (const Timeout&) {
        steps.push_back("inner");
      }
    });
  });
  EXPECT_NE(error.find("20"), error.npos) << error;
  EXPECT_EQ(steps, (Steps{}));
}

MAIN_TEST_F(WithinTest, AnInnerOneDoesNotInterruptTheEndByAnOuterOne) {
  for (const bool is_due : {false, true}) {
    const Instant begin = now();
    const std::string error = thrown_by([&] {
      within({.timeout = 20ms}, [&] {
        try {
          within({.timeout = 45ms}, [&] {
            try {
              if (is_due) protect([] { delay(40ms); });
              delay(1h);
            } catch (const Cancellation&) {
              delay(30ms);
              throw;
            }
          });
        } catch (const Timeout&) {
          steps.push_back("inner");
        }
      });
    });
    EXPECT_NE(error.find("20"), error.npos) << error;
    EXPECT_EQ(now() - begin, is_due ? 70ms : 50ms);
  }
  EXPECT_EQ(steps, (Steps{}));
}

MAIN_TEST_F(WithinTest, SparesProtectedCode) {
  const Instant begin = now();
  const std::string error = thrown_by([&] {
    within({.timeout = 50ms}, [&] {
      protect([&] { wait_twice(40ms); });
      delay(1h);
    });
  });
  EXPECT_TRUE(error.starts_with("fermata::Timeout: ")) << error;
  EXPECT_EQ(now() - begin, 80ms);
  EXPECT_EQ(steps, (Steps{"first", "second"}));
}

MAIN_TEST_F(WithinTest, EndsByADeadlineThatNobodyElseWaitsFor) {
  const auto deadline = make_timeout(50ms);
  const Instant begin = now();
  EXPECT_EQ(thrown_by([&] { within({.token = deadline.get()}, [&] { wait_twice(30ms); }); }),
            "fermata::OperationCancelled: Operation has been cancelled\n"
            "  previous: fermata::Timeout: Timeout occurred after 50 milliseconds");
  EXPECT_EQ(now() - begin, 50ms);
  EXPECT_EQ(steps, (Steps{"first", "second is interrupted"}));
  EXPECT_EQ(deadline->loop_ref_count(), 0u);
  EXPECT_EQ(deadline->callbacks().size(), 0u);
}

MAIN_TEST_F(WithinTest, LeavesADeadlineThatItDidNotNeed) {
  const auto deadline = make_timeout(50ms);
  within({.token = deadline.get()}, [] { delay(1ms); });
  EXPECT_EQ(runtime.active_event_count(), 0u);
  delay(60ms);
  EXPECT_FALSE(deadline->is_completed()) << "nobody waits for it";
  EXPECT_THROW(within({.token = deadline.get()}, [] { delay(1h); }), OperationCancelled);
  EXPECT_THROW(within({.token = deadline.get()}, [this] { steps.push_back("never"); }),
               OperationCancelled);
  EXPECT_EQ(steps, (Steps{}));
}

MAIN_TEST_F(WithinTest, EndsWithATokenThatFiresMoreThanOnce) {
  const auto bell = make_event<PlainEvent>(runtime);
  const auto waiter = spawn(
      [&] { return thrown_by([&] { within({.token = bell.get()}, [&] { wait_twice(30ms); }); }); });
  delay(1ms);
  bell->notify({});
  EXPECT_EQ(await(waiter), "fermata::OperationCancelled: Operation has been cancelled");
  EXPECT_EQ(steps, (Steps{"first is interrupted"}));
}

MAIN_TEST_F(WithinTest, TakesTheErrorOfACoroutineThatIsItsToken) {
  const auto token = spawn("token", [] {
    delay(1ms);
    throw Error("of the token");
  });
  EXPECT_EQ(thrown_by([&] { within({.token = &token.event()}, [&] { wait_twice(30ms); }); }),
            "fermata::OperationCancelled: Operation has been cancelled\n"
            "  previous: fermata::Error: of the token");
}

TEST_F(WithinTest, LeavesTheErrorOfItsTokenToOthersWhenItIsNotTold) {
  EXPECT_EQ(thrown_by([&] {
              fixture.run([] {
                auto token = spawn("token", [] {
                  delay(1ms);
                  throw Error("of the token");
                });
                within({.token = &token.event()}, [] { protect([] { delay(5ms); }); });
              });
            }),
            "fermata::Error: of the token");
}

MAIN_TEST_F(WithinTest, TheFirstOfTimeoutAndTokenCounts) {
  Promise<> stop;
  const Future<> stopped = stop.future();
  const std::string error = thrown_by([&] {
    within({.timeout = 10ms, .token = &stopped.event()}, [&] {
      protect([] { delay(20ms); });
      stop.complete();
      delay(1h);
    });
  });
  EXPECT_TRUE(error.starts_with("fermata::Timeout: ")) << error;
}

MAIN_TEST_F(WithinTest, LimitsCodeInsideOfProtectedCode) {
  const Instant begin = now();
  EXPECT_THROW(protect([] { within({.timeout = 20ms}, [] { delay(1h); }); }), Timeout);
  EXPECT_EQ(now() - begin, 20ms);
  EXPECT_THROW(protect_in_destructor([] { within({.timeout = 20ms}, [] { delay(1h); }); }),
               Timeout);
  EXPECT_EQ(now() - begin, 40ms);
}

MAIN_TEST_F(WithinTest, LimitsCodeInADestructorThatAnExceptionHasCalled) {
  struct Flush {
    Steps& steps;
    ~Flush() {
      steps.push_back(
          thrown_by([] { within({.timeout = 20ms}, [] { delay(1h); }); }).substr(0, 16));
    }
  };
  const Instant begin = now();
  EXPECT_EQ(thrown_by([&] {
              const Flush flush{steps};
              throw Error("failed");
            }),
            "fermata::Error: failed");
  EXPECT_EQ(now() - begin, 20ms);
  EXPECT_EQ(steps, (Steps{"fermata::Timeout"}));
}

MAIN_TEST_F(WithinTest, LimitsCodeInsideThatIsDueWhenItDoesNotWait) {
  Promise<> stop;
  const Future<> stopped = stop.future();
  EXPECT_EQ(thrown_by([&] {
              protect([&] {
                within({.token = &stopped.event()}, [&] {
                  stop.complete();
                  wait_twice(1ms);
                });
              });
            }),
            "fermata::OperationCancelled: Operation has been cancelled");
  EXPECT_EQ(steps, (Steps{"first is interrupted"}));
}

MAIN_TEST_F(WithinTest, TheOuterOneWaitsForTheEndOfProtectedCodeWithItsOwn) {
  const Instant begin = now();
  const std::string error = thrown_by([&] {
    within({.timeout = 10ms}, [&] {
      protect([&] {
        EXPECT_THROW(within({.timeout = 30ms}, [&] { wait_twice(20ms); }), Timeout);
        wait_twice(1ms);
      });
      delay(1h);
    });
  });
  EXPECT_NE(error.find("10"), error.npos) << error;
  EXPECT_EQ(now() - begin, 32ms);
  EXPECT_EQ(steps, (Steps{"first", "second is interrupted", "first", "second"}));
}

MAIN_TEST_F(WithinTest, SparesWhatCleansUpBecauseOfACancellation) {
  for (const bool runs_when_it_comes : {false, true}) {
    const auto waiter = spawn([&] {
      within({.timeout = 20ms}, [&] {
        try {
          if (runs_when_it_comes) current_coroutine().cancel();
          delay(1h);
        } catch (const Cancellation&) {
          wait_twice(30ms);
          throw;
        }
      });
    });
    delay(10ms);
    if (!runs_when_it_comes) waiter.cancel();
    EXPECT_EQ(thrown_by([&] { await(waiter); }).substr(0, 25), "fermata::AwaitedCancelled");
    EXPECT_EQ(steps, (Steps{"first", "second"}));
    steps.clear();
  }
}

MAIN_TEST_F(WithinTest, SparesWhatCleansUpAfterACancellationThatWasPutOff) {
  const auto waiter = spawn([&] {
    within({.timeout = 20ms}, [&] {
      try {
        protect([] { delay(15ms); });
      } catch (const Cancellation&) {
        wait_twice(30ms);
        throw;
      }
    });
  });
  delay(10ms);
  waiter.cancel();
  EXPECT_EQ(thrown_by([&] { await(waiter); }).substr(0, 25), "fermata::AwaitedCancelled");
  EXPECT_EQ(steps, (Steps{"first", "second"}));
}

MAIN_TEST_F(WithinTest, IsForgottenWithItsCode) {
  EXPECT_EQ(within({.timeout = 50ms}, [] { return protect([] { return delay(60ms), 3; }); }), 3);
  delay(1ms);
  EXPECT_FALSE(current_coroutine().is_cancellation_requested());
}

MAIN_TEST_F(WithinTest, YieldsToACancellationThatComesWhileItIsDue) {
  const auto waiter = spawn([&] {
    return thrown_by([&] {
      within({.timeout = 20ms}, [&] {
        protect([] { delay(40ms); });
        delay(1h);
      });
    });
  });
  delay(30ms);
  waiter.cancel();
  EXPECT_EQ(await(waiter), "fermata::Cancellation: Coroutine cancelled");
}

MAIN_TEST_F(WithinTest, ATimeoutOfZeroAllowsWhatNeedsNoWait) {
  Channel<int> channel("numbers", 1);
  channel.send(5);
  EXPECT_EQ(within({.timeout = 0ns}, [&] { return channel.recv(); }), 5);
  EXPECT_THROW(within({.timeout = 0ns}, [&] { return channel.recv(); }), Timeout);
  EXPECT_EQ(channel.try_recv(), std::nullopt);
}

MAIN_TEST_F(WithinTest, LeavesNothingBehindInTheObjectsThatWereWaitedFor) {
  Channel<int> channel("numbers", 1);
  Mutex mutex;
  const Mutex::Guard held(mutex);
  EXPECT_THROW(within({.timeout = 1ms}, [&] { return channel.recv(); }), Timeout);
  await(spawn([&] {
    EXPECT_THROW(within({.timeout = 1ms}, [&] { const Mutex::Guard second(mutex); }), Timeout);
  }));
  channel.send(3);
  EXPECT_EQ(channel.recv(), 3);
}

MAIN_TEST_F(WithinTest, LimitsIterations) {
  const std::vector<int> items{1, 2, 3};
  EXPECT_THROW(iterate(items,
                       [&](int item) {
                         delay(20ms);
                         steps.push_back(std::to_string(item));
                       },
                       {.concurrency = 1, .limits = {.timeout = 50ms}}),
               Timeout);
  EXPECT_EQ(steps, (Steps{"1", "2"}));
}

MAIN_TEST_F(WithinTest, RefusesBadLimits) {
  EXPECT_EQ(thrown_by([] { within({.timeout = -1ns}, [] {}); }),
            "fermata::UsageError: a span of -1 ns: expected zero or more");
  Promise<> fired;
  fired.complete();
  const Future<> token = fired.future();
  EXPECT_THROW(within({.token = &token.event()}, [this] { steps.push_back("never"); }),
               OperationCancelled);
  EXPECT_EQ(steps, (Steps{}));
}

}  // namespace
}  // namespace fermata::test
