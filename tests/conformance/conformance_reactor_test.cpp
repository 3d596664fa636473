// SPDX-License-Identifier: Apache-2.0

// What a reactor does for the runtime, and what the bodies about its parts do not come to.

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/reactor/threads.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Arm>
class Reactors : public ::testing::Test {};
TYPED_TEST_SUITE(Reactors, PollableArms);
template <class Arm>
class ReactorsWithAllParts : public ::testing::Test {};
TYPED_TEST_SUITE(ReactorsWithAllParts, Arms);

MAIN_TYPED_TEST(ReactorsWithAllParts, SayWhatTheyAre) {
  EXPECT_EQ(reactor().name(), TypeParam::kReal ? "uv" : "sim");
  EXPECT_GE(reactor().threads().processors(), 1u);
}

MAIN_TYPED_TEST(Reactors, WatchOverStepsWhereTimeIsReal) {
  const auto watchdog = reactor().make_watchdog(1h, [](const std::string&) {});
  EXPECT_EQ(watchdog != nullptr, TypeParam::kReal);
}

MAIN_TYPED_TEST(Reactors, WokenForNothingGoOnWaiting) {
  const Instant before = now();
  reactor().wake();
  delay(5ms);
  EXPECT_GE(now() - before, Duration(5ms));
}

TYPED_TEST(Reactors, TellTheRuntimeOfControlSignals) {
  bool interrupted = false;
  const auto body = [&] {
    const std::array signums = {SIGHUP};
    reactor().watch_control_signals(signums);
    TypeParam::raise(SIGHUP);
    try {
      delay(1h);
    } catch (const Cancellation& reason) {
      interrupted = std::string(reason.what()).find("signal 1") != std::string::npos;
      throw;
    }
  };
  EXPECT_EQ(TypeParam::error_of(body), "");
  EXPECT_TRUE(interrupted);
}

MAIN_TYPED_TEST(Reactors, TakeBackATaskThatHasNotBegun) {
  int done = 0;
  const auto work = [&done] { ++done; };
  using Work = detail::TaskOf<decltype(work), void>;
  const auto task = Ref<Work>::adopt(*new Work(reactor().offload(), work));
  task->start();
  const bool taken_back = task->cancel();
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(task->cancel(), taken_back && !task->is_closed());
    suspend();
  }
  EXPECT_EQ(error_of([&] { wait(*task); }),
            taken_back ? "Thread pool task was cancelled" : "no error");
  EXPECT_EQ(done, taken_back ? 0 : 1);
}

}  // namespace
}  // namespace fermata::conformance
