// SPDX-License-Identifier: Apache-2.0

// A wait for several whose items come from a source, one after the other.

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/when_all_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// Gives what `make(n)` makes for n = 0, 1, ... up to `count`, after a pause each.
template <class Make>
auto one_by_one(int count, Duration pause, Make make) {
  return [=, next = 0]() mutable -> std::optional<decltype(make(0))> {
    if (pause > Duration::zero()) delay(pause);
    if (next == count) return std::nullopt;
    return make(next++);
  };
}

MAIN_TEST_F(WhenAllTest, LosesNoErrorOfASourceThatIsStopped) {
  FERMATA_CHECKS("CORE-AW-11");
  auto source = [first = true]() mutable -> std::optional<Coroutine<int>> {
    if (std::exchange(first, false)) return failure_after(1ms, "an item");
    EXPECT_THROW(delay(1h), Cancellation);
    throw Error("the source");
  };
  EXPECT_EQ(thrown_by([&] { when_all(source); }),
            "fermata::Error: the source\n  previous: fermata::Error: an item");
}

MAIN_TEST_F(WhenAllTest, ReadsItsItemsFromASource) {
  FERMATA_CHECKS("CORE-AW-01", "CORE-AW-03", "CORE-AW-11");
  const Instant start = now();
  const auto make = [](int n) { return value_after(10ms * (3 - n), n); };
  EXPECT_EQ(text_of(when_all_settled(one_by_one(3, 1ms, make)).values), "2=2 1=1 0=0");
  EXPECT_EQ(now() - start, 31ms) << "items run while others are still to come";
  EXPECT_EQ(when_all(one_by_one(3, 0ms, make)), (std::vector{0, 1, 2}));
  EXPECT_TRUE(when_all_settled(one_by_one(0, 1ms, make)).values.empty());
  EXPECT_EQ(when_any(one_by_one(0, 0ms, make)), std::nullopt);
  std::istringstream numbers("3 1 2");
  struct Tasks {
    std::istream_iterator<int> at, past = {};
    struct Iterator {
      using value_type = Coroutine<int>;
      using difference_type = std::ptrdiff_t;
      std::istream_iterator<int> at = {};
      Coroutine<int> operator*() const { return value_after(1ms, *at); }
      Iterator& operator++() { return ++at, *this; }
      void operator++(int) { ++at; }
      bool operator==(const Iterator& other) const { return at == other.at; }
    };
    [[nodiscard]] Iterator begin() const { return {at}; }
    [[nodiscard]] Iterator end() const { return {past}; }
  };
  EXPECT_EQ(when_all(Tasks{std::istream_iterator<int>(numbers)}), (std::vector{3, 1, 2}));
  EXPECT_EQ(runtime.active_event_count(), 0u);
}

MAIN_TEST_F(WhenAllTest, StopsReadingWhenItHasEnough) {
  FERMATA_CHECKS("CORE-AW-05");
  int made = 0;
  const auto endless = [&] {
    ++made;
    return std::optional(value_after(10ms, made));
  };
  EXPECT_EQ(when_any(endless), 1);
  EXPECT_EQ(made, 32) << "no more than so many at a time";
  made = 0;
  EXPECT_EQ(when_any(endless, {.concurrency = 3}), 1);
  EXPECT_EQ(made, 3);
  made = 0;
  EXPECT_EQ(text_of(when_some_succeed(4, endless, {.concurrency = 1}).values), "0=1 1=2 2=3 3=4");
  bool unwound = false;
  const auto slow = [&]() -> std::optional<Coroutine<int>> {
    struct Mark {
      bool& mark;
      ~Mark() { mark = true; }
    } mark{unwound};
    delay(1h);
    return std::nullopt;
  };
  EXPECT_THROW(when_all_settled(slow, {.timeout = 10ms}), Timeout);
  EXPECT_TRUE(unwound) << "nobody reads it any more";
  EXPECT_EQ(runtime.registry().size(), 1u);
}

MAIN_TEST_F(WhenAllTest, FailsWithItsSource) {
  FERMATA_CHECKS("CORE-AW-08");
  auto broken = [n = 0]() mutable -> std::optional<Coroutine<int>> {
    if (n++ == 2) throw Error("no more");
    return value_after(1h, n);
  };
  EXPECT_EQ(thrown_by([&] { when_all_settled(broken, {.on_exit = ExitPolicy::CancelAndJoin}); }),
            "fermata::Error: no more");
  const auto null = []() -> std::optional<Coroutine<int>> { return Coroutine<int>(); };
  EXPECT_THROW(when_all_settled(null), UsageError);
  Coroutine<int> self;
  self = spawn([&] {
    EXPECT_THROW(when_all_settled([&] { return std::optional(self); }), UsageError);
    return 0;
  });
  await(self);
}

MAIN_TEST_F(WhenAllTest, EndsItsSourceWhenTheWaiterIsCancelled) {
  FERMATA_CHECKS("CORE-AW-05");
  const auto waiter = spawn(
      [] { when_all_settled(one_by_one(5, 10ms, [](int n) { return value_after(1ms, n); })); });
  delay(25ms);
  waiter.cancel();
  EXPECT_EQ(end_of(waiter), "fermata::Cancellation: Coroutine cancelled");
  EXPECT_EQ(runtime.registry().size(), 1u);
}

}  // namespace
}  // namespace fermata::test
