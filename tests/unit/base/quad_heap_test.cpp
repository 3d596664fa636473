// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/quad_heap.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <vector>

#include "tests/support/splitmix.hpp"

namespace fermata::detail {
namespace {

/// A number that knows where it stands.
struct Placed {
  std::uint64_t number = 0;
  std::vector<std::size_t>* places = nullptr;

  [[nodiscard]] bool is_before(const Placed& other) const noexcept { return number < other.number; }
  void moved_to(std::size_t index) const noexcept { (*places)[number] = index; }
};

TEST(QuadHeap, IsInOrderAndTellsPlacesAfterEveryChange) {
  constexpr std::uint64_t kNumbers = 500;
  test::SplitMix random(3);
  std::vector<std::size_t> places(kNumbers);
  std::set<std::uint64_t> model;
  QuadHeap<Placed> heap;
  for (int round = 0; round < 4'000; ++round) {
    const std::uint64_t number = random.next() % kNumbers;
    const std::uint64_t other = random.next() % kNumbers;
    if (round % 3 == 0 && model.contains(number) && model.insert(other).second) {
      const std::size_t place = places[number];
      if (other < number) {
        heap.replace_by_less(place, {other, &places});
      } else {
        heap.replace(place, {other, &places});
      }
      model.erase(number);
    } else if (round % 100 == 99) {
      const auto goes = [&](std::uint64_t each) { return each % 3 == number % 3; };
      heap.remove_if([&](const Placed& each) { return goes(each.number); });
      std::erase_if(model, goes);
    } else if (model.insert(number).second) {
      heap.push({number, &places});
    } else {
      heap.remove(places[number]);
      model.erase(number);
    }
    ASSERT_TRUE(heap.is_in_order());
    ASSERT_EQ(heap.size(), model.size());
    if (model.empty()) continue;
    ASSERT_EQ(heap.front().number, *model.begin());
    for (const std::uint64_t each : model) ASSERT_EQ(heap[places[each]].number, each);
  }
}

}  // namespace
}  // namespace fermata::detail
