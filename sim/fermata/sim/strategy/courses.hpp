// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far those came in an earlier run whom something may strike on their way: a machine that may
// crash, in waits. With it a strategy draws a place that is really come to, whether a program lives
// for a millisecond or for an hour. What is learnt stands behind the strategy's name as
// `:waits=KEY.COUNT`, with more of those after commas.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

class Courses {
 public:
  static constexpr std::string_view kMark = ":waits=";
  /// The maximum number of courses remembered: the first ones.
  static constexpr std::size_t kMost = 32;

  /// 0 when it is not known.
  [[nodiscard]] std::uint64_t length_of(std::uint64_t subject) const noexcept;
  /// The last one that came to its end counts; one that was cut short only shows that there is more
  /// than was known.
  void learn(std::span<const Course> courses);
  /// Nothing, or what stands behind a name.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Course> known_;
};

}  // namespace fermata::sim
