// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/runtime.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

TEST(Runtime, ReturnsTheCodeOfItsBody) {
  TestRuntime fixture;
  EXPECT_EQ(fixture.run([] { return 4; }), 4);
  EXPECT_EQ(fixture.run([] {}), 0);
}

TEST(Runtime, ThrowsWhatItsBodyThrew) {
  FERMATA_CHECKS("CORE-SC-15", "CORE-GL-05");
  TestRuntime fixture;
  EXPECT_EQ(thrown_by([&] { fixture.run([] { throw Error("of main"); }); }),
            "fermata::Error: of main");
  ASSERT_EQ(fixture.runtime.exit_errors().size(), 1u);
  EXPECT_EQ(message_of(fixture.runtime.exit_errors().front()), "of main");
  EXPECT_EQ(fixture.run([] { return 2; }), 2) << "thrown once";
  EXPECT_TRUE(fixture.runtime.exit_errors().empty());
}

TEST(Runtime, NeedsAReactor) {
  EXPECT_EQ(thrown_by([] { Runtime runtime(nullptr); }),
            "fermata::UsageError: Runtime: expected a reactor, got null");
}

TEST(Runtime, IsCurrentDuringItsRunOnly) {
  TestRuntime fixture;
  EXPECT_THROW(static_cast<void>(current_runtime()), UsageError);
  EXPECT_FALSE(fixture.runtime.is_running());
  fixture.run([&] {
    EXPECT_EQ(&current_runtime(), &fixture.runtime);
    EXPECT_TRUE(fixture.runtime.is_running());
    EXPECT_EQ(&current_coroutine(), fixture.runtime.current());
    EXPECT_EQ(current_coroutine().name(), "main");
  });
  EXPECT_THROW(static_cast<void>(current_runtime()), UsageError);
}

TEST(Runtime, CountsWhatItDoes) {
  TestRuntime fixture;
  fixture.run([] {
    await(spawn([] { delay(1ms); }));
    suspend();
  });
  const Metrics& metrics = fixture.runtime.metrics();
  EXPECT_EQ(metrics.spawned, 2u);
  EXPECT_EQ(metrics.finished, 2u);
  EXPECT_EQ(metrics.timers_fired, 1u);
  EXPECT_GE(metrics.switches, 4u);
  EXPECT_GE(metrics.ticks, 4u);
  EXPECT_GE(metrics.polls, metrics.blocking_polls);
  EXPECT_EQ(metrics.blocking_polls, 1u);
  EXPECT_EQ(metrics.deadlocks, 0u);
}

TEST(Runtime, DumpsAllCoroutinesInTheOrderOfTheirIds) {
  FERMATA_CHECKS("CORE-SC-20");
  TestRuntime fixture;
  std::string dump;
  fixture.run([&] {
    const auto event = make_event<PlainEvent>(fixture.runtime);
    const auto waiting = spawn("waiting", [&] { wait(*event); });
    suspend();
    const auto fresh = spawn("fresh", [] {});
    dump = fixture.runtime.dump();
    event->notify({});
  });
  const auto at = [&](const char* text) {
    const auto position = dump.find(text);
    EXPECT_NE(position, std::string::npos) << text << " in\n" << dump;
    return position;
  };
  EXPECT_LT(at("'main' spawned at"), at("'waiting' spawned at"));
  EXPECT_LT(at("'waiting' spawned at"), at("\n  waits for Event #"));
  EXPECT_LT(at("\n  waits for Event #"), at("'fresh' spawned at"));
  EXPECT_NE(dump.find(", not started\n"), std::string::npos);
  EXPECT_NE(dump.find(" KiB of its stack\n"), std::string::npos);
}

TEST(Runtime, DumpsOnASignal) {
  RuntimeOptions options;
  options.dump_signal = SIGUSR1;
  TestRuntime fixture(options);
  fixture.reactor->on_turn = [&] {
    fixture.reactor->on_turn = nullptr;
    fixture.runtime.on_control_signal(SIGUSR1);
  };
  EXPECT_EQ(fixture.run([] { delay(1ms); }), 0) << "it goes on";
  EXPECT_EQ(fixture.log.rfind("1 coroutines\nCoroutine 1 'main' spawned at", 0), 0u) << fixture.log;
}

TEST(Runtime, ReportsSlowSteps) {
  RuntimeOptions options;
  options.slow_step = 10ms;
  TestRuntime fixture(options);
  fixture.run([&] {
    const auto slow_once = spawn("slow once", [&] {
      fixture.reactor->advance(25ms);
      suspend();
      fixture.reactor->advance(5ms);
    });
    const auto slow_at_its_end = spawn("slow at its end", [&] {
      suspend();
      fixture.reactor->advance(11ms);
    });
    await(slow_once);
    await(slow_at_its_end);
    delay(1h);
  });
  EXPECT_EQ(fixture.runtime.metrics().slow_steps, 2u) << fixture.log;
  EXPECT_NE(fixture.log.find("'slow once' spawned at"), std::string::npos) << fixture.log;
  EXPECT_NE(fixture.log.find(" ran for 25 ms without giving up control\n"), std::string::npos);
  EXPECT_NE(fixture.log.find("'slow at its end' spawned at"), std::string::npos) << fixture.log;
  EXPECT_NE(fixture.log.find(" ran for 11 ms without giving up control\n"), std::string::npos);
}

TEST(Runtime, SaysNothingOfSlowStepsUnlessAsked) {
  TestRuntime fixture;
  fixture.run([&] {
    fixture.reactor->advance(1h);
    suspend();
  });
  EXPECT_EQ(fixture.runtime.metrics().slow_steps, 0u);
  EXPECT_EQ(fixture.log, "");
}

TEST(Runtime, ReportsWhatACallbackOfATimerThrows) {
  FERMATA_CHECKS("CORE-GL-05", "CORE-CB-09");
  TestRuntime fixture;
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto timer = make_timer(fixture.runtime, 1ms);
                Probe rest;
                const auto subscription = subscribe(
                    *timer, [](Event&, const Outcome&) { throw Error("callback failed"); });
                timer->add_callback(rest);
                timer->start();
                EXPECT_EQ(thrown_by([] { delay(1h); }), "fermata::Cancellation: Graceful shutdown");
                EXPECT_EQ(rest.runs, 1) << "the others are called all the same";
                timer->remove_callback(rest);
              });
            }),
            "fermata::Error: callback failed");
}

TEST(Runtime, ReportsWhatASubscriberOfACoroutineThrows) {
  FERMATA_CHECKS("CORE-CO-19", "CORE-GL-05");
  TestRuntime fixture;
  bool finally_ran = false;
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto child = spawn([] { return 6; });
                child->finally([&](CoroutineBase&) { finally_ran = true; });
                const auto subscription = subscribe(
                    *child, [](Event&, const Outcome&) { throw Error("subscriber failed"); });
                EXPECT_EQ(await(child), 6);
                EXPECT_THROW(delay(1h), Cancellation);
              });
            }),
            "fermata::Error: subscriber failed");
  EXPECT_TRUE(finally_ran) << "no step of the end is skipped";
}

TEST(Runtime, LogsAnErrorThatComesOutsideOfARun) {
  TestRuntime fixture;
  fixture.runtime.report_unhandled(std::make_exception_ptr(Error("too late")));
  EXPECT_EQ(fixture.log, "unhandled error outside of a run: fermata::Error: too late\n");
  std::optional<Coroutine<>> kept;
  fixture.run([&] {
    kept = spawn([] { throw Error("never looked at"); });
    suspend();
    suspend();
  });
  kept.reset();
  EXPECT_NE(fixture.log.find("unhandled error outside of a run: fermata::Error: never looked at\n"),
            std::string::npos)
      << fixture.log;
}

TEST(Runtime, GivesTimeAndChance) {
  TestRuntime fixture;
  fixture.run([] {
    EXPECT_EQ(wall_clock().nanoseconds, now().nanoseconds);
    for (int i = 0; i < 100; ++i) EXPECT_LT(random(7), 7u);
    EXPECT_NE(random_bits(), random_bits());
    EXPECT_THROW(static_cast<void>(random(0)), UsageError);
  });
}

TEST(Runtime, NamesAPartThatItsReactorLacks) {
  TestRuntime fixture;
  EXPECT_EQ(thrown_by([&] { static_cast<void>(fixture.reactor->polls()); }),
            "fermata::Unsupported: reactor 'virtual' has no part 'polls'");
  EXPECT_THROW(static_cast<void>(fixture.reactor->signals()), Unsupported);
  EXPECT_THROW(static_cast<void>(fixture.reactor->triggers()), Unsupported);
  EXPECT_THROW(static_cast<void>(fixture.reactor->streams()), Unsupported);
  EXPECT_THROW(static_cast<void>(fixture.reactor->offload()), Unsupported);
}

}  // namespace
}  // namespace fermata::test
