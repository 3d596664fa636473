// SPDX-License-Identifier: Apache-2.0
#pragma once

// The enumerators of an enumeration, for tests of tables that must have a row for each.

#include <string_view>
#include <vector>

namespace fermata::test {

/// Counted from 0 for as long as `name_of` has another name than an unknown one: it calls that by
/// the name of the first one. So a new enumerator, which the compiler makes one name, is in here.
template <class Enum>
[[nodiscard]] std::vector<Enum> every(const char* (*name_of)(Enum)) {
  std::vector<Enum> all = {Enum{}};
  for (int next = 1; std::string_view(name_of(static_cast<Enum>(next))) != name_of(Enum{});
       ++next) {
    all.push_back(static_cast<Enum>(next));
  }
  return all;
}

}  // namespace fermata::test
