// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/courses.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

std::uint64_t Courses::length_of(std::uint64_t subject) const noexcept {
  for (const Course& each : known_) {
    if (each.subject == subject) return each.length;
  }
  return 0;
}

void Courses::learn(std::span<const Course> courses) {
  FERMATA_ASSERT(known_.size() <= kMost);
  for (const Course& each : courses) {
    const auto known = std::find_if(known_.begin(), known_.end(), [&](const Course& other) {
      return other.subject == each.subject;
    });
    if (each.length == 0) continue;
    if (known == known_.end()) {
      if (known_.size() < kMost) known_.push_back({each.subject, each.length});
    } else {
      known->length = each.cut ? std::max(known->length, each.length) : each.length;
    }
  }
}

std::string Courses::text() const {
  std::string text;
  for (const Course& each : known_) {
    FERMATA_ASSERT(each.length > 0);
    text += fmt::format("{}{:x}.{}", text.empty() ? kMark : ",", each.subject, each.length);
  }
  return text;
}

}  // namespace fermata::sim
