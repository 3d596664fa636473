// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/barrier.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

class BarrierTest : public RuntimeFixture {
 protected:
  Coroutine<std::string> spawn_party(Barrier& barrier, const char* name, WaitOptions options = {}) {
    return spawn(std::string(name), [this, &barrier, name, options] {
      const std::string end = thrown_by([&] { barrier.arrive_and_wait(options); });
      if (end.empty()) passed.emplace_back(name);
      return end;
    });
  }

  Names passed;
};

const SourcePlace kMade{"race.cpp", "", 3};

MAIN_TEST_F(BarrierTest, LetsAllGoWhenTheLastHasArrived) {
  Barrier barrier(3);
  const auto a = spawn_party(barrier, "a");
  const auto b = spawn_party(barrier, "b");
  suspend();
  EXPECT_EQ(barrier.arrived(), 2u);
  EXPECT_TRUE(passed.empty());
  const Metrics before = fixture.runtime.metrics();
  barrier.arrive_and_wait();
  EXPECT_EQ(fixture.runtime.metrics().ticks, before.ticks) << "the last one does not suspend";
  await(b);
  await(a);
  EXPECT_EQ(passed, (Names{"a", "b"}));
  EXPECT_EQ(barrier.phases(), 1u);
  EXPECT_EQ(barrier.arrived(), 0u);
}

MAIN_TEST_F(BarrierTest, RunsPhaseAfterPhase) {
  std::vector<int> phase_of(3, 0);
  int completions = 0;
  Barrier barrier(3, [&] {
    ++completions;
    for (const int phase : phase_of) EXPECT_EQ(phase, completions) << "everybody is there";
  });
  std::vector<Coroutine<>> parties;
  for (int& phase : phase_of) {
    parties.push_back(spawn([&] {
      for (int i = 0; i < 4; ++i) {
        ++phase;
        barrier.arrive_and_wait();
      }
    }));
  }
  for (const auto& party : parties) await(party);
  EXPECT_EQ(completions, 4);
  EXPECT_EQ(barrier.phases(), 4u);
}

MAIN_TEST_F(BarrierTest, BreaksWhenAPartyIsCancelled) {
  Barrier barrier("start", 3, {}, kMade);
  const auto a = spawn_party(barrier, "a");
  const auto b = spawn_party(barrier, "b");
  suspend();
  a.cancel();
  const std::string broken =
      "fermata::BrokenBarrier: Barrier 'start' created at race.cpp:3: broken, because 'a' has "
      "arrived and left\n  previous: fermata::Cancellation: Coroutine cancelled";
  EXPECT_EQ(await(b), broken);
  EXPECT_EQ(await(a), "fermata::Cancellation: Coroutine cancelled");
  EXPECT_TRUE(barrier.is_broken());
  EXPECT_EQ(thrown_by([&] { barrier.arrive_and_wait(); }), broken) << "who comes later, too";
  EXPECT_EQ(barrier.info(), "Barrier 'start' created at race.cpp:3, broken");
  barrier.reset();
  EXPECT_FALSE(barrier.is_broken());
  EXPECT_EQ(barrier.arrived(), 0u);
}

MAIN_TEST_F(BarrierTest, BreaksWhenAPartyTimesOut) {
  Barrier barrier(3);
  const auto patient = spawn_party(barrier, "patient");
  const auto hasty = spawn_party(barrier, "hasty", {.timeout = 5ms});
  EXPECT_EQ(await(hasty), "fermata::Timeout: Timeout occurred after 5 milliseconds");
  EXPECT_NE(await(patient).find("'hasty' has arrived and left"), std::string::npos);
}

MAIN_TEST_F(BarrierTest, CountsAPartyThatIsCancelledWhenItsPhaseIsComplete) {
  for (const bool before : {true, false}) {
    Barrier barrier(3);
    const auto a = spawn_party(barrier, "a");
    const auto b = spawn_party(barrier, "b");
    suspend();
    if (before) a.cancel();
    barrier.arrive_and_wait();
    if (!before) a.cancel();
    EXPECT_EQ(await(b), "");
    EXPECT_EQ(await(a), "fermata::Cancellation: Coroutine cancelled");
    EXPECT_FALSE(barrier.is_broken());
  }
}

MAIN_TEST_F(BarrierTest, LosesAPartyWhileItIsBroken) {
  Barrier barrier(3);
  const auto a = spawn_party(barrier, "a");
  suspend();
  a.cancel();
  await(a);
  ASSERT_TRUE(barrier.is_broken());
  barrier.arrive_and_drop();
  EXPECT_TRUE(barrier.is_broken());
  barrier.reset();
  EXPECT_EQ(barrier.arrived(), 0u);
  const auto b = spawn_party(barrier, "b");
  barrier.arrive_and_wait();
  EXPECT_EQ(await(b), "") << "two are enough now";
}

MAIN_TEST_F(BarrierTest, HasNotSeenWhoseTokenHadFired) {
  FERMATA_CHECKS("EVT-06");
  Barrier barrier(2);
  const auto fired = spawn([] {});
  await(fired);
  EXPECT_THROW(barrier.arrive_and_wait({.token = &*fired}), OperationCancelled);
  EXPECT_THROW(barrier.arrive_and_wait({.timeout = -1ms}), UsageError);
  EXPECT_EQ(barrier.arrived(), 0u);
  EXPECT_FALSE(barrier.is_broken());
}

MAIN_TEST_F(BarrierTest, GoesOnWithoutWhoDrops) {
  Barrier barrier(3);
  const auto a = spawn_party(barrier, "a");
  const auto b = spawn_party(barrier, "b");
  suspend();
  barrier.arrive_and_drop();
  EXPECT_EQ(await(a) + await(b), "");
  EXPECT_EQ(barrier.parties(), 2u);
  const auto c = spawn_party(barrier, "c");
  suspend();
  EXPECT_EQ(passed.size(), 2u);
  barrier.arrive_and_wait();
  EXPECT_EQ(await(c), "");
}

MAIN_TEST_F(BarrierTest, BreaksWhenItsCompletionFailsOrSuspends) {
  bool waits = false;
  Barrier barrier(
      "start", 2,
      [&] {
        if (waits) suspend();
        throw Error("no");
      },
      kMade);
  const auto a = spawn_party(barrier, "a");
  suspend();
  EXPECT_EQ(thrown_by([&] { barrier.arrive_and_wait(); }), "fermata::Error: no");
  EXPECT_EQ(await(a),
            "fermata::BrokenBarrier: Barrier 'start' created at race.cpp:3: broken, because its "
            "completion has failed\n  previous: fermata::Error: no");
  barrier.reset();
  waits = true;
  const auto b = spawn_party(barrier, "b");
  suspend();
  EXPECT_THROW(barrier.arrive_and_wait(), UsageError);
  EXPECT_NE(await(b).find("must not suspend"), std::string::npos);
}

MAIN_TEST_F(BarrierTest, ResetFailsWhoWaits) {
  Barrier barrier(2);
  const auto a = spawn_party(barrier, "a");
  suspend();
  barrier.reset();
  const auto b = spawn_party(barrier, "b");
  const auto c = spawn_party(barrier, "c");
  EXPECT_NE(await(a).find("because it was reset"), std::string::npos);
  EXPECT_EQ(await(b) + await(c), "");
}

MAIN_TEST_F(BarrierTest, NeedsParties) {
  EXPECT_EQ(thrown_by([] { const Barrier barrier("start", 0, {}, kMade); }),
            "fermata::UsageError: Barrier 'start' created at race.cpp:3: 0 parties: expected one "
            "or more");
  Barrier barrier("start", 1, {}, kMade);
  barrier.arrive_and_wait();
  barrier.arrive_and_drop();
  const std::string refused =
      "fermata::UsageError: Barrier 'start' created at race.cpp:3: arrival at a barrier that "
      "every party has dropped";
  EXPECT_EQ(thrown_by([&] { barrier.arrive_and_wait(); }), refused);
  EXPECT_EQ(thrown_by([&] { barrier.arrive_and_drop(); }), refused);
}

MAIN_TEST_F(BarrierTest, SaysWhoIsThere) {
  Barrier barrier("start", 3, {}, kMade);
  const auto a = spawn_party(barrier, "a");
  suspend();
  EXPECT_EQ(barrier.info(),
            "Barrier 'start' created at race.cpp:3, 1 of 3 parties arrived, waiting: 'a'");
  a.cancel();
  await(a);
}

}  // namespace
}  // namespace fermata::test
