// SPDX-License-Identifier: Apache-2.0

// Control signals: the first one asks, the second one forces.

#include <gtest/gtest.h>

#include <csignal>
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

class StopSignalTest : public RuntimeFixture {
 protected:
  Steps steps;
};

TEST_F(StopSignalTest, EndsTheRunWithItsCode) {
  fixture.reactor->on_turn = [this] {
    fixture.reactor->on_turn = nullptr;
    runtime.on_control_signal(SIGTERM);
  };
  EXPECT_EQ(fixture.run([this] { steps.push_back(thrown_by([] { delay(1h); })); }), 128 + SIGTERM);
  EXPECT_EQ(steps, (Steps{"fermata::Cancellation: Interrupted by signal 15"}));
  EXPECT_EQ(fixture.reactor->watched_signals, (std::vector{SIGINT, SIGTERM}));
}

TEST_F(StopSignalTest, EndsItByForceTheSecondTime) {
  int waits = 0;
  fixture.reactor->on_block = [&] {
    if (++waits <= 2) runtime.on_control_signal(SIGINT);
  };
  EXPECT_EQ(fixture.run([this] {
    const auto never = make_event<BackendEvent>(runtime);
    for (int i = 0; i < 3; ++i) steps.push_back(thrown_by([&] { wait(*never); }));
  }),
            128 + SIGINT);
  EXPECT_EQ(steps, (Steps{"fermata::Cancellation: Interrupted by signal 2",
                          "fermata::Cancellation: Interrupted again, by signal 2",
                          "fermata::Cancellation: Coroutine must end: it has ignored its "
                          "cancellation"}));
}

TEST_F(StopSignalTest, IsWatchedOnlyWhenItIsWanted) {
  RuntimeOptions options;
  options.handle_stop_signals = false;
  TestRuntime plain(options);
  plain.run([] {});
  EXPECT_TRUE(plain.reactor->watched_signals.empty());
  options.dump_signal = SIGUSR1;
  TestRuntime dumping(options);
  dumping.run([] {});
  EXPECT_EQ(dumping.reactor->watched_signals, (std::vector{SIGUSR1}));
}

}  // namespace
}  // namespace fermata::test
