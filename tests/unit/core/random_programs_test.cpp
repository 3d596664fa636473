// SPDX-License-Identifier: Apache-2.0

// Random programs under an observer that recounts everything after each step.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/any_order.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/recount.hpp"
#include "tests/support/splitmix.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// Coroutines that wait, wake, cancel and spawn each other as a generator says. Every wait has a
/// timeout, so that a program ends whatever happens.
class Program {
 public:
  Program(std::uint64_t seed, Runtime& runtime) : random_(seed) {
    for (int i = 0; i < 3; ++i) events_.push_back(make_event<PlainEvent>(runtime));
  }

  void run() {
    for (int i = 0; i < 5; ++i) start_one();
    play(12);
  }

  int bodies = 0;
  int finally_ran = 0;
  int finally_registered = 0;

 private:
  void start_one() {
    if (handles_.size() >= 40) return;
    const Priority priority = random_.once_in(5) ? Priority::High : Priority::Normal;
    const auto coroutine = spawn(SpawnOptions{"", priority, {}, nullptr}, [this] {
      ++bodies;
      play(8);
    });
    handles_.push_back(coroutine);
    if (!random_.once_in(3)) return;
    ++finally_registered;
    coroutine->finally([this](CoroutineBase&) {
      ++finally_ran;
      if (random_.once_in(2)) play(2);
    });
  }

  void play(int steps) {
    for (int i = 0; i < steps; ++i) {
      try {
        step();
      } catch (const Cancellation&) {
        if (random_.once_in(2)) throw;
      } catch (const Timeout&) {
      }
    }
  }

  void step() {
    const WaitOptions patience{Duration(random_.below(4)) * 1'000'000, nullptr};
    switch (random_.below(10)) {
      case 0:
        return suspend();
      case 1:
        return delay(Duration(random_.below(3)) * 1'000'000);
      case 2:
      case 3:
        wait(*any_event(), patience);
        return;
      case 4:
        wait(*any_event(), {patience.timeout, any_event().get()});
        return;
      case 5:
        any_event()->notify({});
        return;
      case 6:
        return any_handle().cancel();
      case 7:
        return start_one();
      case 8:
        return protect([this] { delay(Duration(random_.below(2)) * 1'000'000); });
      default: {
        const auto other = any_handle();
        if (&*other != &current_coroutine()) await(other, patience);
        return;
      }
    }
  }

  [[nodiscard]] Ref<PlainEvent> any_event() { return events_[random_.below(events_.size())]; }
  [[nodiscard]] Coroutine<> any_handle() { return handles_[random_.below(handles_.size())]; }

  SplitMix random_;
  std::vector<Ref<PlainEvent>> events_;
  std::vector<Coroutine<>> handles_;
};

std::uint64_t trace_of(std::uint64_t seed, backend::Chooser* chooser = nullptr) {
  Recount recount;
  RuntimeOptions options;
  options.observer = &recount;
  options.chooser = chooser;
  TestRuntime fixture(options);
  {
    Program program(seed, fixture.runtime);
    fixture.run([&] { program.run(); });
    FERMATA_CHECKS("CORE-GL-10");
    EXPECT_EQ(program.finally_ran, program.finally_registered) << "seed " << seed;
    EXPECT_LE(program.bodies, 40);
  }
  EXPECT_EQ(recount.complaints(), std::vector<std::string>()) << "seed " << seed;
  EXPECT_GT(recount.steps(), 0u);
  FERMATA_CHECKS("CORE-EV-10", "CORE-GL-09", "CORE-SC-14");
  EXPECT_EQ(fixture.runtime.active_event_count(), 0u);
  EXPECT_EQ(fixture.runtime.kernel().live_events.size(), 0u);
  EXPECT_EQ(fixture.runtime.blocks().blocks_in_use(), 0u);
  EXPECT_EQ(fixture.runtime.scheduler().contexts().stats().live, 0u);
  EXPECT_EQ(fixture.runtime.metrics().spawned, fixture.runtime.metrics().finished);
  return recount.hash();
}

// A recount notes the invariants that it has checked.
TEST(RandomPrograms, AgreeWithARecountAfterEachStep) {
  for (std::uint64_t seed = 1; seed <= 400 && !::testing::Test::HasFailure(); ++seed) {
    trace_of(seed);
  }
}

TEST(RandomPrograms, AgreeWhateverTheOrder) {
  for (std::uint64_t seed = 1; seed <= 400 && !::testing::Test::HasFailure(); ++seed) {
    AnyOrder order(seed);
    trace_of(seed, &order);
  }
}

TEST(RandomPrograms, GoTheSameWayTwice) {
  FERMATA_CHECKS("CORE-SC-20", "CORE-GL-11", "G-09");
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(trace_of(seed), trace_of(seed)) << "seed " << seed;
    AnyOrder first(seed);
    AnyOrder second(seed);
    EXPECT_EQ(trace_of(seed, &first), trace_of(seed, &second)) << "seed " << seed;
  }
  EXPECT_NE(trace_of(1), trace_of(2));
}

/// A tree of coroutines in which only the structure, never the order, decides the result.
std::uint64_t tree_sum(std::uint64_t node, int depth) {
  if (depth == 0) {
    delay(Duration(node % 3) * 1'000'000);
    return node;
  }
  const auto left = spawn([=] { return tree_sum(node * 2, depth - 1); });
  const auto right = spawn([=] { return tree_sum(node * 2 + 1, depth - 1); });
  const std::uint64_t sum_of_left = await(left);
  return sum_of_left * 31 + await(right);
}

TEST(RandomPrograms, HaveOneResultInEveryOrderWhenTheyDoNotRace) {
  FERMATA_CHECKS("CORE-GL-12");
  const auto result = [](backend::Chooser* chooser) {
    RuntimeOptions options;
    options.chooser = chooser;
    TestRuntime fixture(options);
    std::uint64_t sum = 0;
    fixture.run([&] { sum = tree_sum(1, 5); });
    return sum;
  };
  const std::uint64_t calm = result(nullptr);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    AnyOrder order(seed);
    EXPECT_EQ(result(&order), calm) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fermata::test
