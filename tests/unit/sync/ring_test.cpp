// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/ring.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <memory>

#include "tests/support/splitmix.hpp"

namespace fermata::test {
namespace {

TEST(Ring, IsAQueueWhateverItsFillAndOffset) {
  SplitMix random(7);
  for (std::size_t slots = 1; slots <= 9; ++slots) {
    detail::Ring<std::unique_ptr<int>> ring(slots);
    std::deque<int> model;
    for (int i = 0; i < 2'000; ++i) {
      const bool push = model.empty() || (model.size() < slots && random.below(2) == 0);
      if (push) {
        ring.push(std::make_unique<int>(i));
        model.push_back(i);
      } else {
        ASSERT_EQ(*ring.pop(), model.front());
        model.pop_front();
      }
    }
    for (; !model.empty(); model.pop_front()) ASSERT_EQ(*ring.pop(), model.front());
  }
}

}  // namespace
}  // namespace fermata::test
