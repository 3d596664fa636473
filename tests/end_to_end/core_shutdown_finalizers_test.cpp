// SPDX-License-Identifier: Apache-2.0

// Clean-up at the end of a program that may suspend: while one finalizer waits, a new coroutine of
// high priority goes on with the rest.

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Steps = std::vector<std::string>;

class ShutdownFinalizers : public ::testing::Test {
 protected:
  /// A connection that takes a while to say goodbye.
  void add_slow(const std::string& name, Duration span) {
    fixture.runtime.add_shutdown_finalizer([this, name, span] {
      note("close " + name);
      delay(span);
      note(name + " closed");
    });
  }
  void add_quick(const std::string& name) {
    fixture.runtime.add_shutdown_finalizer([this, name] { note(name); });
  }
  void note(std::string step) {
    steps.push_back(std::move(step));
    EXPECT_EQ(current_coroutine().priority(), Priority::High);
    drivers.insert(current_coroutine().id());
  }

  TestRuntime fixture;
  Steps steps;
  std::set<std::uint64_t> drivers;
};

TEST_F(ShutdownFinalizers, GoOnWhileOneIsSuspended) {
  add_slow("database", 20ms);
  add_quick("cache");
  add_slow("queue", 10ms);
  add_quick("log");
  fixture.run([] {});
  EXPECT_EQ(steps, (Steps{"close database", "cache", "close queue", "log", "queue closed",
                          "database closed"}));
  EXPECT_EQ(drivers.size(), 3u) << "a new coroutine for each that was left behind";
}

TEST_F(ShutdownFinalizers, ShareACoroutineAsLongAsNobodySuspends) {
  for (const char* name : {"a", "b", "c"}) add_quick(name);
  fixture.run([] {});
  EXPECT_EQ(steps, (Steps{"a", "b", "c"}));
  EXPECT_EQ(drivers.size(), 1u);
}

TEST_F(ShutdownFinalizers, GoFirstWhenAShutdownBegins) {
  add_slow("database", 10ms);
  add_quick("cache");
  Steps order;
  fixture.run([&] {
    const auto worker = spawn([&] {
      EXPECT_THROW(delay(1h), Cancellation);
      order = steps;
    });
    suspend();
    shutdown();
  });
  EXPECT_EQ(order, (Steps{"close database", "cache"})) << "before who was cancelled";
  EXPECT_EQ(steps.back(), "database closed") << "and they are not cancelled themselves";
}

TEST_F(ShutdownFinalizers, RunOnceForEachRun) {
  add_quick("once");
  fixture.run([] { shutdown(); });
  EXPECT_EQ(steps, (Steps{"once"}));
  fixture.run([] {});
  EXPECT_EQ(steps, (Steps{"once", "once"}));
  EXPECT_EQ(fixture.run([]() -> int { exit_with(3); }), 3);
  EXPECT_EQ(steps.size(), 3u);
}

TEST_F(ShutdownFinalizers, EndTheRunWithTheirErrorsWhenTheyFail) {
  FERMATA_CHECKS("CORE-SC-15", "CORE-GL-05");
  fixture.runtime.add_shutdown_finalizer([] { throw Error("cannot close"); });
  add_quick("the next one");
  EXPECT_EQ(thrown_by([this] { fixture.run([] { throw Error("the cause"); }); }),
            "fermata::Error: cannot close\n  previous: fermata::Error: the cause");
  EXPECT_EQ(steps, (Steps{"the next one"}));
}

TEST_F(ShutdownFinalizers, AreEndedByTheDeadline) {
  FERMATA_CHECKS("CORE-GL-09");
  add_slow("unreachable", 1h);
  add_quick("the next one");
  Instant asked;
  fixture.run([&] {
    asked = now();
    shutdown();
  });
  EXPECT_EQ(steps, (Steps{"close unreachable", "the next one"}));
  EXPECT_EQ(fixture.runtime.now() - asked, 5s);
  EXPECT_EQ(fixture.log, "the shutdown deadline has passed: ending by force\n");
}

TEST_F(ShutdownFinalizers, MaySpawnAndAwaitAtTheEndOfAQuietRun) {
  fixture.runtime.add_shutdown_finalizer([this] {
    const auto helper = spawn([] {
      delay(1ms);
      return 5;
    });
    EXPECT_EQ(await(helper), 5);
    note("awaited");
  });
  fixture.run([] {});
  EXPECT_EQ(steps, (Steps{"awaited"}));
}

}  // namespace
}  // namespace fermata::test
