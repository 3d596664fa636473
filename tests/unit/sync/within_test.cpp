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
