// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is explored: a function, and how its arguments are made.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fermata::sim {

class World;

/// The inputs from which the arguments of a run are made.
struct Preparation {
  std::uint64_t seed = 0;
  /// RapidCheck's reproduction from a tape, when it has one; overrides the seed.
  std::string_view rapidcheck;
};

/// The program to explore. All functions but `body` are called outside of any coroutine, and all
/// but `body` may be empty.
struct Program {
  /// The main coroutine of a node called "main".
  std::function<void(World& world)> body;
  /// Makes what the body needs, before each run.
  std::function<void(const Preparation& preparation)> prepare;
  /// The result of `prepare` as text, one item per line.
  std::function<std::string()> arguments;
  /// How to make it again.
  std::function<std::string()> rapidcheck;
  /// How to make each thing that is one step smaller than what `rapidcheck` makes, the smallest
  /// first; a hundred at most.
  std::function<std::vector<std::string>(std::string_view rapidcheck)> smaller_arguments;
};

}  // namespace fermata::sim
