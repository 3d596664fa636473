// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/iterate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <stdexcept>
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

/// Counts what runs.
struct Gauge {
  int started = 0;
  int ended = 0;
  int running = 0;
  int peak = 0;
  std::vector<int> order;

  /// A callback's stay; ended however it is left.
  class Stay {
   public:
    Stay(Gauge& gauge, int element) : gauge_(gauge) {
      ++gauge_.started;
      gauge_.peak = std::max(gauge_.peak, ++gauge_.running);
      gauge_.order.push_back(element);
    }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;
    ~Stay() {
      --gauge_.running;
      ++gauge_.ended;
    }

   private:
    Gauge& gauge_;
  };
};

std::vector<int> numbers(int count) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(i);
  return all;
}

class IterateTest : public RuntimeFixture {
 protected:
  /// Nothing but the main coroutine is left, nor a microtask.
  void expect_nothing_left() {
    EXPECT_EQ(runtime.registry().size(), 1u);
    EXPECT_TRUE(runtime.scheduler().microtasks().empty());
    EXPECT_EQ(runtime.active_event_count(), 0u);
  }

  Gauge gauge;
};

MAIN_TEST_F(IterateTest, RunsCallbacksThatNeverSuspendInOneWorker) {
  FERMATA_CHECKS("CORE-IT-01", "CORE-IT-03", "CORE-IT-08", "CORE-IT-10");
  const auto spawned = runtime.metrics().spawned;
  const std::vector<int> all = numbers(100);
  iterate(all, [&](int element) { const Gauge::Stay stay(gauge, element); });
  EXPECT_EQ(gauge.order, all);
  EXPECT_EQ(gauge.peak, 1);
  EXPECT_EQ(runtime.metrics().spawned - spawned, 1u);
  expect_nothing_left();
}

MAIN_TEST_F(IterateTest, RunsAsManyAtATimeAsItMay) {
  FERMATA_CHECKS("CORE-IT-01", "CORE-IT-02", "CORE-IT-05", "CORE-IT-10");
  struct Case {
    std::ptrdiff_t concurrency;
    int peak;
  };
  for (const auto& [concurrency, peak] : {Case{1, 1}, {3, 3}, {10, 10}, {50, 10}, {0, 10}}) {
    gauge = {};
    const std::vector<int> all = numbers(10);
    iterate(all,
            [&](int element) {
              const Gauge::Stay stay(gauge, element);
              delay(10ms);
            },
            {.concurrency = concurrency});
    EXPECT_EQ(gauge.order, all) << "handed out in order";
    EXPECT_EQ(gauge.peak, peak);
    EXPECT_EQ(gauge.ended, 10);
    expect_nothing_left();
  }
}

MAIN_TEST_F(IterateTest, ReturnsAtOnceWhenThereIsNothing) {
  const auto ticks = runtime.metrics().ticks;
  iterate(std::vector<int>(), [](int) { FAIL(); });
  iterate(std::map<int, int>(), [](int, int) { FAIL(); });
  EXPECT_EQ(runtime.metrics().ticks, ticks);
  iterate([]() -> std::optional<int> { return std::nullopt; }, [](int) { FAIL(); });
  expect_nothing_left();
}

MAIN_TEST_F(IterateTest, RefusesANegativeConcurrency) {
  EXPECT_EQ(thrown_by([] { iterate(numbers(1), [](int) {}, {.concurrency = -1}); }),
            "fermata::UsageError: iterate: a concurrency of -1: expected zero, for no limit, or "
            "more");
}

MAIN_TEST_F(IterateTest, GivesElementsWithTheirKeys) {
  std::string seen;
  const std::map<std::string, int> map{{"a", 1}, {"b", 2}};
  iterate(map, [&](int value, const std::string& key) { seen += key + std::to_string(value); });
  iterate(map, [&](const auto& entry) { seen += entry.first; });
  std::list<std::string> words{"x", "y"};
  iterate(words, [&](std::string& word, std::size_t at) { word += std::to_string(at); });
  for (const auto& word : words) seen += word;
  EXPECT_EQ(seen, "a1b2abx0y1");
}

MAIN_TEST_F(IterateTest, VisitsWhatWasThereAtTheCallAndIsStill) {
  std::vector<int> growing = numbers(3);
  iterate(growing, [&](int element) {
    const Gauge::Stay stay(gauge, element);
    growing.push_back(element + 10);
  });
  EXPECT_EQ(gauge.order, numbers(3));
  gauge = {};
  std::vector<int> shrinking = numbers(5);
  iterate(shrinking, [&](int element) {
    const Gauge::Stay stay(gauge, element);
    shrinking.pop_back();
  });
  EXPECT_EQ(gauge.order, numbers(3));
}

MAIN_TEST_F(IterateTest, ReadsASourceThatSuspendsNeverTwiceAtOnce) {
  FERMATA_CHECKS("CORE-IT-01", "CORE-IT-02", "CORE-IT-07");
  int inside = 0;
  bool ended = false;
  iterate(
      [&, next = 0]() mutable -> std::optional<int> {
        EXPECT_FALSE(ended) << "asked again after its end";
        EXPECT_EQ(++inside, 1);
        delay(2ms);
        --inside;
        if (next == 8) {
          ended = true;
          return std::nullopt;
        }
        return next++;
      },
      [&](int element) {
        const Gauge::Stay stay(gauge, element);
        delay(7ms);
      },
      {.concurrency = 3});
  EXPECT_EQ(gauge.order, numbers(8));
  EXPECT_EQ(gauge.peak, 3);
  expect_nothing_left();
}

TEST_F(IterateTest, ReadsWhateverHasNext) {
  struct Countdown {
    int left = 3;
    std::optional<int> next() { return left > 0 ? std::optional(--left) : std::nullopt; }
  };
  fixture.run([this] {
    Countdown countdown;
    iterate(countdown, [&](int element) { const Gauge::Stay stay(gauge, element); });
    EXPECT_EQ(gauge.order, (std::vector{2, 1, 0}));
  });
}

MAIN_TEST_F(IterateTest, StopsWhenACallbackWantsNoMore) {
  FERMATA_CHECKS("CORE-IT-04", "CORE-IT-05");
  iterate(numbers(10),
          [&](int element) {
            const Gauge::Stay stay(gauge, element);
            delay(element == 1 ? 1ms : 5ms);
            return element != 1;
          },
          {.concurrency = 3});
  EXPECT_EQ(gauge.order, numbers(3)) << "nothing starts any more";
  EXPECT_EQ(gauge.ended, 3) << "what runs is completed";
  expect_nothing_left();
}

TEST_F(IterateTest, ThrowsTheFirstErrorAndCancelsTheOthers) {
  FERMATA_CHECKS("CORE-IT-04", "CORE-IT-05", "CORE-IT-06", "CORE-IT-10");
  fixture.run([this] {
    int cancelled = 0;
    const Instant start = now();
    EXPECT_EQ(thrown_by([&] {
                iterate(numbers(10),
                        [&](int element) {
                          const Gauge::Stay stay(gauge, element);
                          try {
                            delay(element == 1 ? 1ms : 1h);
                          } catch (const Cancellation& cancellation) {
                            EXPECT_STREQ(cancellation.what(),
                                         "Cancellation of the iterator due to an exception");
                            ++cancelled;
                            throw;
                          }
                          throw Error("element " + std::to_string(element));
                        },
                        {.concurrency = 4});
              }),
              "fermata::Error: element 1");
    EXPECT_EQ(now() - start, 1ms);
    EXPECT_EQ(gauge.started, 4);
    EXPECT_EQ(gauge.ended, 4);
    EXPECT_EQ(cancelled, 3);
    expect_nothing_left();
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

MAIN_TEST_F(IterateTest, LinksLaterErrorsBehindTheFirst) {
  FERMATA_CHECKS("CORE-IT-06", "CORE-CN-06");
  EXPECT_EQ(thrown_by([] {
              iterate(numbers(2),
                      [](int element) {
                        try {
                          delay(element == 0 ? 1ms : 1h);
                        } catch (const Cancellation&) {
                        }
                        throw Error(element == 0 ? "first" : "second");
                      },
                      {.concurrency = 2});
            }),
            "fermata::Error: first\n  previous: fermata::Error: second");
  EXPECT_THROW(iterate(numbers(2), [](int) { throw std::out_of_range("foreign"); }),
               std::out_of_range);
}

MAIN_TEST_F(IterateTest, ThrowsTheErrorOfItsSource) {
  FERMATA_CHECKS("CORE-IT-06", "CORE-IT-07");
  int asked = 0;
  EXPECT_THROW(iterate(
                   [&]() -> std::optional<int> {
                     if (++asked == 3) throw Error("broken");
                     return asked;
                   },
                   [](int) { delay(1ms); }),
               Error);
  EXPECT_EQ(asked, 3) << "not asked again";
  expect_nothing_left();
}

MAIN_TEST_F(IterateTest, EndsItsWorkersWhenTheCallerIsCancelled) {
  FERMATA_CHECKS("CORE-IT-05", "CORE-IT-10");
  for (const bool cancel_pending : {true, false}) {
    gauge = {};
    const Instant start = now();
    const auto caller = spawn([&] {
      iterate(numbers(10),
              [&](int element) {
                const Gauge::Stay stay(gauge, element);
                delay(10ms);
              },
              {.concurrency = 2, .cancel_pending = cancel_pending});
    });
    delay(1ms);
    caller.cancel();
    EXPECT_EQ(end_of(caller), "fermata::Cancellation: Coroutine cancelled");
    EXPECT_EQ(now() - start, cancel_pending ? 1ms : 10ms);
    EXPECT_EQ(gauge.started, 2) << "nothing new starts";
    EXPECT_EQ(gauge.ended, 2);
    expect_nothing_left();
  }
}

MAIN_TEST_F(IterateTest, WaitsForItsWorkersHoweverOftenTheCallerIsCancelled) {
  FERMATA_CHECKS("CORE-IT-10", "CORE-CO-06");
  const auto caller = spawn([&] {
    iterate(numbers(1), [](int) {
      try {
        delay(1h);
      } catch (const Cancellation&) {
        delay(10ms);
        throw;
      }
    });
  });
  delay(1ms);
  caller.cancel(std::make_exception_ptr(Cancellation("first")));
  delay(1ms);
  caller.cancel(std::make_exception_ptr(Cancellation("second")));
  delay(1ms);
  EXPECT_FALSE(caller->is_completed());
  EXPECT_EQ(end_of(caller),
            "fermata::Cancellation: second\n  previous: fermata::Cancellation: first");
  expect_nothing_left();
}

MAIN_TEST_F(IterateTest, EndsWhenAWorkerIsCancelledBeforeItRuns) {
  FERMATA_CHECKS("CORE-IT-09", "CORE-IT-10");
  const auto caller = spawn([] { iterate(numbers(3), [](int) { ADD_FAILURE(); }); });
  const auto canceller = spawn([&] {
    CoroutineBase* worker = nullptr;
    for (CoroutineBase* each = runtime.registry().first(); each != nullptr;
         each = each->next_registered()) {
      if (each->name() == "iterate.worker") worker = each;
    }
    ASSERT_NE(worker, nullptr);
    EXPECT_FALSE(worker->is_started());
    worker->cancel();
  });
  EXPECT_THROW(await(caller), Cancellation) << "not every element was visited";
  await(canceller);
  expect_nothing_left();
}

MAIN_TEST_F(IterateTest, EndsWhenItsScopeIsCancelledFromInside) {
  FERMATA_CHECKS("CORE-IT-09", "CORE-IT-10");
  EXPECT_THROW(iterate(numbers(5),
                       [&](int element) {
                         const Gauge::Stay stay(gauge, element);
                         if (element == 2) current_scope().cancel();
                         delay(10ms);
                       },
                       {.concurrency = 3}),
               Cancellation);
  EXPECT_EQ(gauge.started, gauge.ended);
  expect_nothing_left();
}

MAIN_TEST_F(IterateTest, CancelsOrAwaitsWhatCallbacksHaveSpawned) {
  FERMATA_CHECKS("CORE-IT-05", "CORE-IT-10");
  for (const bool cancel_pending : {true, false}) {
    std::string how;
    const Instant start = now();
    iterate(numbers(1),
            [&](int) {
              spawn([&] { how = thrown_by([] { delay(10ms); }); });
              suspend();
            },
            {.cancel_pending = cancel_pending});
    EXPECT_EQ(how, cancel_pending ? "fermata::Cancellation: Cancellation of pending coroutines "
                                    "after iterator completion"
                                  : "");
    EXPECT_EQ(now() - start, cancel_pending ? 0ms : 10ms);
    expect_nothing_left();
  }
}

TEST_F(IterateTest, ThrowsTheErrorOfWhatACallbackHasSpawned) {
  FERMATA_CHECKS("CORE-IT-06");
  fixture.run([this] {
    EXPECT_EQ(thrown_by([] {
                iterate(numbers(1),
                        [](int) {
                          spawn([] {
                            delay(5ms);
                            throw Error("spawned");
                          });
                        },
                        {.cancel_pending = false});
              }),
              "fermata::Error: spawned");
    expect_nothing_left();
  });
  EXPECT_TRUE(runtime.exit_errors().empty());
}

MAIN_TEST_F(IterateTest, NestsAndLeavesOthersAlone) {
  FERMATA_CHECKS("CORE-IT-01", "CORE-IT-02");
  int pairs = 0;
  const auto other = spawn([] { delay(1s); });
  iterate(numbers(3),
          [&](int) {
            iterate(numbers(4),
                    [&](int) {
                      delay(1ms);
                      ++pairs;
                    },
                    {.concurrency = 2});
          },
          {.concurrency = 2});
  EXPECT_EQ(pairs, 12);
  EXPECT_FALSE(other->is_completed());
  await(other);
  expect_nothing_left();
}

}  // namespace
}  // namespace fermata::test
