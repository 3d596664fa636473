// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/ready_queue.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <iterator>

#include "tests/support/splitmix.hpp"

namespace fermata::detail {
namespace {

/// The queue never looks inside a coroutine, so any distinct addresses will do.
CoroutineBase& coroutine(std::size_t number) {
  struct alignas(std::max_align_t) Place {};
  static Place places[4096];
  return reinterpret_cast<CoroutineBase&>(places[number % std::size(places)]);
}

void expect_same(const ReadyQueue& queue, const std::deque<std::size_t>& model) {
  ASSERT_EQ(queue.size(), model.size());
  EXPECT_EQ(queue.empty(), model.empty());
  for (std::size_t i = 0; i < model.size(); ++i) EXPECT_EQ(&queue[i], &coroutine(model[i]));
}

TEST(ReadyQueue, PopsInOrder) {
  ReadyQueue queue;
  for (std::size_t i = 0; i < 5; ++i) queue.push_back(coroutine(i));
  queue.push_front(coroutine(9));
  EXPECT_EQ(&queue.pop_front(), &coroutine(9));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(&queue.pop_front(), &coroutine(i));
  EXPECT_TRUE(queue.empty());
}

TEST(ReadyQueue, TakesFromAnyPlaceAndKeepsTheOrderOfTheRest) {
  ReadyQueue queue;
  for (std::size_t i = 0; i < 6; ++i) queue.push_back(coroutine(i));
  EXPECT_EQ(&queue.take(1), &coroutine(1));
  EXPECT_EQ(&queue.take(3), &coroutine(4));
  expect_same(queue, {0, 2, 3, 5});
}

TEST(ReadyQueue, GrowsAcrossTheWrap) {
  ReadyQueue queue;
  std::deque<std::size_t> model;
  for (std::size_t i = 0; i < 40; ++i) {
    queue.push_back(coroutine(i));
    queue.pop_front();
  }
  for (std::size_t i = 0; i < 200; ++i) {
    queue.push_back(coroutine(i));
    model.push_back(i);
  }
  expect_same(queue, model);
}

TEST(ReadyQueue, AgreesWithAPlainListInRandomUse) {
  ReadyQueue queue;
  std::deque<std::size_t> model;
  test::SplitMix random(7);
  for (std::size_t step = 0; step < 20'000; ++step) {
    const bool shrink = random.below(400) < model.size();
    switch (random.below(2) + (shrink ? 2 : 0)) {
      case 0:
        queue.push_back(coroutine(step));
        model.push_back(step);
        break;
      case 1:
        queue.push_front(coroutine(step));
        model.push_front(step);
        break;
      case 2:
        EXPECT_EQ(&queue.pop_front(), &coroutine(model.front()));
        model.pop_front();
        break;
      default: {
        const std::size_t at = random.below(model.size());
        EXPECT_EQ(&queue.take(at), &coroutine(model[at]));
        model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    ASSERT_EQ(queue.size(), model.size());
  }
  expect_same(queue, model);
}

}  // namespace
}  // namespace fermata::detail
