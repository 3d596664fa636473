// SPDX-License-Identifier: Apache-2.0

// Promises that are completed by work on other threads, real and simulated.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/remote_promise.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::thrown_by;

/// Work that owns the promise it completes. Copyable only because offload's functions are kept in
/// place.
template <class T>
auto elsewhere(Promise<T>& promise, void (*work)(RemotePromise<T>&)) {
  return spawn("elsewhere", [remote = std::make_shared<RemotePromise<T>>(promise), work]() mutable {
    offload([remote = std::move(remote), work] { work(*remote); });
  });
}

template <class Arm>
class RemotePromises : public ::testing::Test {};
TYPED_TEST_SUITE(RemotePromises, PollableArms);

MAIN_TYPED_TEST(RemotePromises, CarryAValueOrAnErrorToTheirFuture) {
  FERMATA_CHECKS("FUT-16");
  Promise<std::string> promise;
  Promise<> failing;
  const auto worker = elsewhere<std::string>(promise, [](auto& remote) {
    remote.complete("done");
    EXPECT_TRUE(remote.is_completed());
    EXPECT_EQ(thrown_by([&] { remote.complete("again"); }),
              "fermata::UsageError: the future is already completed");
    EXPECT_FALSE(remote.try_fail(std::make_exception_ptr(Error("late"))));
  });
  const auto other = elsewhere<void>(failing, [](auto& remote) {
    EXPECT_TRUE(remote.try_fail(std::make_exception_ptr(Error("disk on fire"))));
  });
  const auto length = promise.future().map([](const std::string& text) { return text.size(); });
  EXPECT_EQ(await(promise.future()), "done");
  EXPECT_EQ(await(length), 4u);
  EXPECT_EQ(thrown_by([&] { await(failing.future()); }), "fermata::Error: disk on fire");
  await(worker);
  await(other);
}

MAIN_TYPED_TEST(RemotePromises, TravelOnceAndLeaveTheOldHandleUnusable) {
  FERMATA_CHECKS("FUT-16");
  Promise<int> promise("answer");
  RemotePromise<int> remote(promise);
  const auto refused = [](const std::string& text) {
    return text.substr(0, text.rfind(": Future"));
  };
  EXPECT_EQ(refused(thrown_by([&] { promise.complete(1); })),
            "fermata::UsageError: the promise was handed to another thread");
  EXPECT_THROW((void)promise.try_complete(1), UsageError);
  EXPECT_EQ(refused(thrown_by([&] { (void)RemotePromise<int>(promise); })),
            "fermata::UsageError: the promise was handed to another thread already");
  remote.complete(2);
  EXPECT_EQ(await(promise.future()), 2);
}

MAIN_TYPED_TEST(RemotePromises, BreakWhenTheyAreDropped) {
  FERMATA_CHECKS("FUT-16", "FUT-18");
  Promise<int> promise;
  const auto future = promise.future();
  const auto worker = elsewhere<int>(promise, [](auto&) {});
  EXPECT_THROW(await(future), BrokenPromise);
  await(worker);
  const auto asked_late = [] {
    Promise<int> another;
    (void)RemotePromise<int>(another);
    return another.future();
  }();
  delay(5ms);
  EXPECT_THROW(await(asked_late), BrokenPromise);
}

MAIN_TYPED_TEST(RemotePromises, KeepADeadlockFromBeingDeclaredWhileTheyArePending) {
  Promise<int> promise;
  const auto before = current_runtime().active_event_count();
  {
    RemotePromise<int> remote(promise);
    EXPECT_EQ(current_runtime().active_event_count(), before + 1);
    remote.complete(1);
    EXPECT_EQ(await(promise.future()), 1);
  }
  EXPECT_EQ(current_runtime().active_event_count(), before);
}

MAIN_TYPED_TEST(RemotePromises, TellWhoWorksForNobody) {
  FERMATA_CHECKS("FUT-17");
  struct Case {
    const char* what;
    void (*use)(const Future<int>&);
    bool requests;
  };
  const Case cases[] = {
      {"never looked at", [](const Future<int>&) {}, false},
      {"awaited", [](const Future<int>& f) { EXPECT_THROW(await(f, {.timeout = 1ms}), Timeout); },
       true},
      {"ignored",
       [](const Future<int>& f) {
         EXPECT_THROW(await(f, {.timeout = 1ms}), Timeout);
         f.ignore();
       },
       false},
      {"cancelled", [](const Future<int>& f) { f.ignore().cancel(); }, true},
  };
  for (const Case& each : cases) {
    std::optional<Promise<int>> promise(std::in_place);
    RemotePromise<int> remote(*promise);
    Trigger unwanted;
    EXPECT_TRUE(remote.bind_cancel(unwanted));
    each.use(promise->future());
    promise.reset();
    EXPECT_EQ(remote.is_cancellation_requested(), each.requests) << each.what;
    if (each.requests) {
      unwanted.wait({.timeout = 1s});
      Trigger late;
      EXPECT_FALSE(remote.bind_cancel(late)) << "the request is not lost";
    } else {
      EXPECT_THROW(unwanted.wait({.timeout = 1ms}), Timeout) << each.what;
    }
    remote.unbind_cancel();
    remote.complete(1);  // Nobody minds.
  }
}

TYPED_TEST(RemotePromises, ARequestAfterTheEndReachesNobody) {
  FERMATA_CHECKS("FUT-17");
  TypeParam::run([] {
    Promise<int> promise;
    const auto future = promise.future();
    RemotePromise<int> remote(promise);
    remote.complete(1);
    future.cancel();
    EXPECT_FALSE(remote.is_cancellation_requested());
    EXPECT_THROW(await(future), Cancellation) << "it came first on this side";
  });
}

}  // namespace
}  // namespace fermata::conformance
