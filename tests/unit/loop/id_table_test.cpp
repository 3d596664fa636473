// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/id_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "tests/support/splitmix.hpp"

namespace fermata::loop::detail {
namespace {

TEST(LoopIdTable, FindsWhatAMapFinds) {
  test::SplitMix random(7);
  IdTable<int> table;
  std::map<std::uint64_t, int*> model;
  std::vector<int> values(4'000);
  std::uint64_t next = 1;
  for (int& value : values) {
    table.insert(next, value);
    model[next] = &value;
    next += 1 + random.next() % 3;
    while (!model.empty() && random.next() % 5 < 2) {
      auto gone = model.lower_bound(random.next() % next);
      if (gone == model.end()) gone = model.begin();
      table.erase(gone->first);
      model.erase(gone);
    }
    const std::uint64_t asked = random.next() % (next + 1);
    const auto known = model.find(asked);
    ASSERT_EQ(table.find(asked), known == model.end() ? nullptr : known->second);
    ASSERT_EQ(table.size(), model.size());
  }
  for (const auto& [id, value] : model) EXPECT_EQ(table.find(id), value);
}

}  // namespace
}  // namespace fermata::loop::detail
