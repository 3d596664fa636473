// SPDX-License-Identifier: Apache-2.0

// suspending() in simulated machines: foreign code is served there anyway.

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/suspending/suspending.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using posix::suspending;

class SuspendingInAWorld : public test::WorldFixture {};

TEST_F(SuspendingInAWorld, IsACallThatTakesVirtualTime) {
  world_->node("machine", [] {
    const Instant begun = now();
    EXPECT_EQ(suspending([] { return ::sleep(3600); }), 0u);
    EXPECT_GE(now() - begun, 1h);
    EXPECT_EQ(test::error_of([] { suspending([] { throw InputOutputError("read", EIO); }); }, EIO),
              "read: Input/output error");
  });
  run();
}

TEST_F(SuspendingInAWorld, ThrowsTheCancellationAtItsEnd) {
  std::vector<int> errors;
  std::string what;
  world_->node("machine", [&] {
    const auto cancelled = spawn([&] {
      try {
        suspending([&] {
          for (int i = 0; i < 2; ++i) errors.push_back(::usleep(60'000'000) == 0 ? 0 : errno);
        });
      } catch (const Cancellation& cancellation) {
        what = cancellation.what();
      }
    });
    delay(1s);
    cancelled.cancel();
    await(cancelled);
  });
  run();
  EXPECT_EQ(errors, (std::vector<int>{EINTR, ECANCELED}));
  EXPECT_EQ(what, "Coroutine cancelled");
}

TEST_F(SuspendingInAWorld, IsRefusedWhereNothingCanBeSuspended) {
  std::string what;
  world_->node("machine", [&] {
    Timer timer(current_runtime(), 1ms);
    const Subscription subscription = subscribe(
        timer, [&](Event&, const Outcome&) { what = test::error_of([] { suspending([] {}); }); });
    wait(timer);
  });
  run();
  EXPECT_EQ(what, "suspending: the scheduler's own context and callbacks must not suspend");
}

}  // namespace
}  // namespace fermata::sim
