// SPDX-License-Identifier: Apache-2.0

// when_all_settled over events of every kind: when they are armed, stopped and left alone.

#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/timeout.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/when_all_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

MAIN_TEST_F(WhenAllTest, WaitsForPlainEvents) {
  FERMATA_CHECKS("CORE-AW-05");
  const auto plain = make_event<PlainEvent>(runtime);
  Timer timer(runtime, 10ms);
  Timer periodic(runtime, 3ms, TimerMode::Periodic);
  const auto limit = make_timeout(20ms);
  const auto completer = spawn([&] {
    delay(5ms);
    plain->complete({nullptr, std::make_exception_ptr(Error("plain"))});
  });
  const Instant start = now();
  const auto [values, errors] =
      when_all_settled(std::vector<Event*>{plain.get(), &timer, &periodic, limit.get()});
  EXPECT_EQ(now() - start, 20ms);
  EXPECT_EQ(values.size(), 2u);
  EXPECT_TRUE(values.contains(1) && values.contains(2));
  EXPECT_EQ(text_of(errors), "0=plain 3=Timeout occurred after 20 milliseconds");
  EXPECT_EQ(periodic.loop_ref_count(), 0u) << "it has answered, and is not armed any more";
  EXPECT_EQ(periodic.callbacks().size(), 0u);
  EXPECT_EQ(runtime.active_event_count(), 0u);
}

MAIN_TEST_F(WhenAllTest, HandlesErrorsThatNobodyCanAskForAgain) {
  FERMATA_CHECKS("CORE-AW-05");
  const auto lost = make_event<BackendEvent>(runtime);
  const auto notifier = spawn([&] {
    delay(5ms);
    lost->notify({nullptr, std::make_exception_ptr(Error("lost"))});
  });
  EXPECT_EQ(text_of(when_all_settled(std::vector<Event*>{lost.get()}).errors), "0=lost");
  EXPECT_TRUE(lost->exception_handled());
  EXPECT_TRUE(lost->exception_caught());
  await(notifier);
}

MAIN_TEST_F(WhenAllTest, LeavesTheOthersWaitForASharedEventAlone) {
  FERMATA_CHECKS("CORE-AW-05", "CORE-WK-05");
  Timer shared(runtime, 20ms);
  const auto other = spawn([&] { wait(shared); });
  Timer first(runtime, 10ms);
  when_any(std::vector<Event*>{&shared, &first});
  EXPECT_EQ(shared.loop_ref_count(), 1u) << "the other's";
  EXPECT_EQ(shared.callbacks().size(), 1u);
  await(other);
}

MAIN_TEST_F(WhenAllTest, StopsWhatItStartedWhenAStartFails) {
  FERMATA_CHECKS("CORE-AW-05", "CORE-WK-15");
  const auto good = make_event<BackendEvent>(runtime);
  const auto bad = make_event<BackendEvent>(runtime);
  bad->on_arm = [] { throw Error("no backend"); };
  const auto later = make_event<BackendEvent>(runtime);
  EXPECT_EQ(thrown_by([&] { when_all_settled({good, bad, later}); }), "fermata::Error: no backend");
  EXPECT_EQ(good->armed, 1);
  EXPECT_EQ(good->disarmed, 1);
  for (const auto& event : {good, bad, later}) {
    EXPECT_EQ(event->callbacks().size(), 0u);
    EXPECT_EQ(event->loop_ref_count(), 0u);
  }
  EXPECT_EQ(later->armed, 0);
  suspend();
}

MAIN_TEST_F(WhenAllTest, EndsWithoutSuspendingWhenAnItemFiresAsItIsArmed) {
  FERMATA_CHECKS("CORE-AW-05");
  const auto quick = make_event<BackendEvent>(runtime);
  quick->on_arm = [&] { quick->notify({}); };
  const auto later = make_event<BackendEvent>(runtime);
  EXPECT_EQ(ticks_of([&] { when_any({quick, later}); }), 0u);
  EXPECT_EQ(later->armed, 0) << "the wait was over";
  EXPECT_EQ(quick->loop_ref_count(), 0u);
  EXPECT_EQ(quick->callbacks().size() + later->callbacks().size(), 0u);
}

MAIN_TEST_F(WhenAllTest, RefusesWhatCannotBeWaitedFor) {
  const auto good = value_after(1ms, 1);
  EXPECT_EQ(
      thrown_by([&] {
        when_all_settled({good, Coroutine<int>()});
      }),
      "fermata::UsageError: when_all_settled: item 1 refers to nothing: expected something to "
      "wait for");
  EXPECT_FALSE(good->callbacks().size() > 0);
  Coroutine<> self;
  self = spawn([&] {
    EXPECT_EQ(thrown_by([&] { when_any({self}); }),
              "fermata::UsageError: when_any: item 0 is the current coroutine, which "
              "cannot await itself");
  });
  await(self);
  const auto dead = make_event<PlainEvent>(runtime);
  dead->close();
  EXPECT_EQ(thrown_by([&] { when_all_settled({dead}); }),
            "fermata::UsageError: when_all_settled: item 0 is closed and keeps no outcome");
  EXPECT_THROW(when_all_settled({good}, {.timeout = -1ns}), UsageError);
  await(good);
}

TEST_F(WhenAllTest, SaysWhatItWaitsFor) {
  EXPECT_THROW(fixture.run([this] {
    const auto never = make_event<PlainEvent>(runtime);
    when_all_settled({never, never});
  }),
               DeadlockError);
  EXPECT_NE(fixture.log.find("when_all_settled: 2 of 2 items have not ended; Event #"),
            std::string::npos)
      << fixture.log;
}

}  // namespace
}  // namespace fermata::test
