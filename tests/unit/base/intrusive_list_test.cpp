// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/intrusive_list.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace fermata::detail {
namespace {

struct Item {
  int value;
  Link<Item> link;
};
using List = IntrusiveList<Item, &Item::link>;

std::vector<int> values(const List& list) {
  std::vector<int> all;
  for (Item* each = list.first(); each != nullptr; each = List::after(*each)) {
    all.push_back(each->value);
  }
  return all;
}

TEST(IntrusiveList, KeepsInsertionOrder) {
  Item a{1, {}}, b{2, {}}, c{3, {}};
  List list;
  EXPECT_TRUE(list.empty());
  for (Item* item : {&a, &b, &c}) list.push_back(*item);
  EXPECT_EQ(values(list), (std::vector{1, 2, 3}));
  EXPECT_EQ(list.size(), 3u);
}

TEST(IntrusiveList, RemovesFromAnyPlace) {
  Item a{1, {}}, b{2, {}}, c{3, {}}, d{4, {}};
  List list;
  for (Item* item : {&a, &b, &c, &d}) list.push_back(*item);
  list.remove(b);
  EXPECT_EQ(values(list), (std::vector{1, 3, 4}));
  list.remove(a);
  list.remove(d);
  EXPECT_EQ(values(list), (std::vector{3}));
  list.push_back(b);
  EXPECT_EQ(values(list), (std::vector{3, 2}));
  list.remove(c);
  list.remove(b);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.size(), 0u);
}

}  // namespace
}  // namespace fermata::detail
