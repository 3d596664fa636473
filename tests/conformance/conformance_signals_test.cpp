// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/timeout.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/checks.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;

template <class Arm>
class SignalsOf : public ::testing::Test {};
TYPED_TEST_SUITE(SignalsOf, PollableArms);

MAIN_TYPED_TEST(SignalsOf, EveryWaiterIsToldOncePerDelivery) {
  FERMATA_CHECKS("SIG-02");
  int told = 0;
  std::vector<Coroutine<>> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.push_back(spawn("waiter", [&] {
      wait_signal(SIGUSR1);
      ++told;
    }));
  }
  suspend();
  TypeParam::raise(SIGUSR1);
  for (const auto& waiter : waiters) await(waiter);
  EXPECT_EQ(told, 3);
}

MAIN_TYPED_TEST(SignalsOf, OtherSignalsAreNoConcernOfAWaiter) {
  const SignalWatch other(SIGUSR2);
  TypeParam::raise(SIGUSR2);
  EXPECT_THROW(wait_signal(SIGUSR1, {.timeout = 5ms}), Timeout);
  EXPECT_TRUE(other.pending());
}

MAIN_TYPED_TEST(SignalsOf, AWatchRemembersWhatCameWhileNobodyWaited) {
  SignalWatch watch(SIGUSR1);
  TypeParam::raise(SIGUSR1);
  delay(5ms);
  watch.wait({.timeout = 0ms});
  EXPECT_THROW(watch.wait({.timeout = 2ms}), Timeout);
}

MAIN_TYPED_TEST(SignalsOf, AWatchThatNobodyWaitsForIsNoActivity) {
  const SignalWatch watch(SIGUSR1);
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
}

MAIN_TYPED_TEST(SignalsOf, AListMayChangeDuringItsDelivery) {
  FERMATA_CHECKS("SIG-03", "SIG-05");
  backend::Signals& signals = current_runtime().reactor().signals();
  backend::SignalEvent first(signals, SIGUSR1);
  auto second = std::make_unique<backend::SignalEvent>(signals, SIGUSR1);
  backend::SignalEvent third(signals, SIGUSR1);
  backend::SignalEvent added(signals, SIGUSR1);
  std::vector<int> told;
  const auto note = [&](int who) {
    return [&told, who](Event&, const Outcome&) { told.push_back(who); };
  };
  const Subscription on_first = subscribe(first, [&](Event&, const Outcome&) {
    told.push_back(1);
    second.reset();
    added.start();
  });
  const Subscription on_second = subscribe(*second, note(2));
  const Subscription on_third = subscribe(third, note(3));
  const Subscription on_added = subscribe(added, note(4));
  first.start();
  second->start();
  third.start();
  TypeParam::raise(SIGUSR1);
  delay(5ms);
  EXPECT_EQ(told, (std::vector<int>{1, 3}));
  TypeParam::raise(SIGUSR1);
  delay(5ms);
  EXPECT_EQ(told, (std::vector<int>{1, 3, 1, 3, 4}));
  for (backend::SignalEvent* event : {&first, &third, &added}) event->stop();
}

MAIN_TYPED_TEST(SignalsOf, AFutureTakesOneDelivery) {
  FERMATA_CHECKS("SIG-01");
  const SignalWatch keeps_it_harmless(SIGUSR1);
  const Future<int> first = signal(SIGUSR1);
  const Future<int> second = signal(SIGUSR1);
  EXPECT_EQ(current_runtime().active_event_count(), 2u);
  TypeParam::raise(SIGUSR1);
  EXPECT_EQ(await(first), SIGUSR1);
  EXPECT_EQ(await(second), SIGUSR1);
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
  TypeParam::raise(SIGUSR1);
  delay(2ms);
  EXPECT_EQ(await(first), SIGUSR1);
}

MAIN_TYPED_TEST(SignalsOf, AFutureThatIsDroppedOrCancelledListensNoMore) {
  FERMATA_CHECKS("SIG-01");
  { const Future<int> dropped = signal(SIGUSR1).ignore(); }
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
  const Future<int> cancelled = signal(SIGUSR1);
  cancelled.cancel();
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
  EXPECT_THROW(await(cancelled), Cancellation);
}

MAIN_TYPED_TEST(SignalsOf, AFutureFailsWithItsToken) {
  const Ref<backend::TimeoutEvent> deadline = make_timeout(5ms);
  const Future<int> late = signal(SIGUSR1, deadline.get());
  try {
    await(late);
    ADD_FAILURE() << "no error";
  } catch (const OperationCancelled& cancelled) {
    EXPECT_EQ(message_of(cancelled.previous()), "Timeout occurred after 5 milliseconds");
  }
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
  EXPECT_THROW((void)signal(SIGUSR1, deadline.get()), OperationCancelled);
  const Ref<backend::TimeoutEvent> unused = make_timeout(1h);
  const Future<int> in_time = signal(SIGUSR1, unused.get());
  TypeParam::raise(SIGUSR1);
  EXPECT_EQ(await(in_time), SIGUSR1);
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
}

MAIN_TYPED_TEST(SignalsOf, AFutureMayBeMapped) {
  const Future<int> twice = signal(SIGUSR1).map([](int signum) { return 2 * signum; });
  TypeParam::raise(SIGUSR1);
  EXPECT_EQ(await(twice), 2 * SIGUSR1);
}

MAIN_TYPED_TEST(SignalsOf, ASignalThatNobodyCanHandleIsRefused) {
  for (const int signum : {SIGKILL, SIGSTOP, 0, -1, 1000, SIGRTMIN - 1}) {
    EXPECT_THROW(wait_signal(signum), UsageError) << signum;
    EXPECT_THROW((void)signal(signum), UsageError) << signum;
  }
}

MAIN_TYPED_TEST(SignalsOf, AnEventLoopOwnsASignalForAsLongAsItLikes) {
  backend::SignalOwners& owners = current_runtime().reactor().signals().owners();
  const int one = 1;
  const int two = 2;
  EXPECT_TRUE(owners.claim(SIGUSR1, &one));
  EXPECT_TRUE(owners.claim(SIGUSR1, &one));
  owners.release(SIGUSR1);
  EXPECT_FALSE(owners.claim(SIGUSR1, &two));
  EXPECT_TRUE(owners.claim(SIGUSR2, &two));
  owners.release(SIGUSR1);
  owners.release(SIGUSR2);
  EXPECT_TRUE(owners.claim(SIGUSR1, &two));
  owners.release(SIGUSR1);
}

}  // namespace
}  // namespace fermata::conformance
