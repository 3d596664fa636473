// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <string>
#include <string_view>
#include <utility>

#include "properties/models/complaint.hpp"

namespace fermata::properties {

/// The rule at the head of a complaint.
[[nodiscard]] inline std::string_view rule_of(std::string_view complaint) {
  return complaint.substr(0, complaint.find(':'));
}

template <class T>
struct Smallest {
  T value;
  models::Complaint complaint;  // Empty when the value given does not fail.
};

/// The smallest value below `shrinkable` that breaks the same rule. `complaint_of(value, rule)` is
/// what a value breaks: that rule only, when it is not empty.
template <class T, class ComplaintOf>
Smallest<T> smallest_failing(rc::Shrinkable<T> shrinkable, ComplaintOf complaint_of,
                             int candidates = 4'000) {
  models::Complaint complaint = complaint_of(shrinkable.value(), "");
  const std::string rule(rule_of(complaint));
  for (bool smaller = !complaint.empty(); smaller;) {
    smaller = false;
    auto shrinks = shrinkable.shrinks();
    while (auto candidate = shrinks.next()) {
      if (--candidates < 0) break;
      models::Complaint one = complaint_of(candidate->value(), rule);
      if (one.empty()) continue;
      complaint = std::move(one);
      shrinkable = *candidate;
      smaller = true;
      break;
    }
  }
  return {shrinkable.value(), std::move(complaint)};
}

}  // namespace fermata::properties
