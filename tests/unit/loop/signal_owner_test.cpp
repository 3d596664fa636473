// SPDX-License-Identifier: Apache-2.0

// A signal is one loop's of its process: of another thread's too, but not of another machine's.

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "fermata/core/suspend.hpp"
#include "fermata/loop/loop.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/poll_arm.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::loop {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Arm>
class LoopSignalOwnerTest : public ::testing::Test {};
TYPED_TEST_SUITE(LoopSignalOwnerTest, conformance::Arms);

MAIN_TYPED_TEST(LoopSignalOwnerTest, ASecondLoopOfTheProgramIsRefused) {
  Loop one;
  Loop two;
  const CallbackId first = one.on_signal(SIGUSR1, [] {});
  const CallbackId second = one.on_signal(SIGUSR1, [] {});
  one.cancel(first);
  EXPECT_EQ(error_of([&] { two.on_signal(SIGUSR1, [] {}); }),
            "on_signal: signal 10 has callbacks of another event loop");
  EXPECT_TRUE(two.identifiers().empty());
  two.on_signal(SIGUSR2, [] {});
  one.cancel(second);
  two.on_signal(SIGUSR1, [] {});
}

MAIN_TYPED_TEST(LoopSignalOwnerTest, OneThatIsCancelledInItsFunctionIsFreeAtOnce) {
  Loop one;
  Loop two;
  CallbackId taken = 0;
  one.on_signal(SIGUSR1, [&](CallbackId id, int) {
    one.cancel(id);
    taken = two.on_signal(SIGUSR1, [] {});
  });
  one.delay(1ms, [] { TypeParam::raise(SIGUSR1); });
  one.run();
  EXPECT_NE(taken, 0u);
}

MAIN_TYPED_TEST(LoopSignalOwnerTest, ALoopThatIsGoneHasNone) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(error_of([] { Loop().on_signal(SIGUSR1, [] {}); }), "no error");
  }
}

TEST(LoopSignalOwner, IsKnownToTheOtherThreadsOfTheProcess) {
  conformance::UvArm::run([] {
    Loop loop;
    const CallbackId id = loop.on_signal(SIGUSR1, [] {});
    const auto from_another_thread = [] {
      std::string error;
      std::thread([&] {
        conformance::PollArm::run([&] {
          Loop other;
          error = error_of([&] { other.on_signal(SIGUSR1, [] {}); });
        });
      }).join();
      return error;
    };
    EXPECT_EQ(from_another_thread(), "on_signal: signal 10 has callbacks of another event loop");
    loop.cancel(id);
    EXPECT_EQ(from_another_thread(), "no error");
  });
}

class LoopSignalOwnerInAWorld : public test::WorldFixture {};

TEST_F(LoopSignalOwnerInAWorld, EachMachineHasItsOwn) {
  int seen = 0;
  for (const char* name : {"a", "b"}) {
    world_->node(name, [&] {
      Loop loop;
      loop.on_signal(SIGUSR1, [&](CallbackId id, int) {
        ++seen;
        loop.cancel(id);
      });
      loop.run();
    });
    world_->at(1ms, [&, name] { world_->node(name).signal(SIGUSR1); });
  }
  run();
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace fermata::loop
