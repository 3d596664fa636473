// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulated tests in test frameworks other than GoogleTest. Adapters for Catch2 and doctest are
// <fermata/sim/adapters/catch2.hpp> and doctest.hpp; with another framework a test is
//
//   const auto result = fermata::sim::explore_test({"no loss", {"--only", "no loss"}}, body);
//   if (!result.failure.empty()) FAIL(result.failure);

#include <functional>
#include <string>
#include <vector>

#include "fermata/sim/world/world.hpp"

namespace fermata::sim {

/// A test as another framework knows it.
struct FrameworkTest {
  /// Its name, which no other test of the program has. Tapes have it, and a folder for them.
  std::string name;
  /// The arguments with which this program runs this test and no other. A failure is confirmed, and
  /// repeated by people, with them.
  std::vector<std::string> arguments;
};

/// What became of a test.
struct FrameworkResult {
  /// The report of the failures, for people; empty when there was none.
  std::string failure;
  /// Why the test was skipped; empty when it was not.
  std::string skip_reason;
};

/// Does with `body` what the FERMATA_* variables say, as SIM_TEST does: explores it, shrinks the
/// first failure and writes its tape, or replays a tape. `body` is the main coroutine of a node
/// called "main"; an exception that leaves it is a failure, and so is each assertion of Fermata or
/// GoogleTest. Must not be called in a simulated program. Throws UsageError when the name is empty
/// or has a slash or a control character, or when there are no arguments.
[[nodiscard]] FrameworkResult explore_test(const FrameworkTest& test,
                                           const std::function<void(World& world)>& body);

}  // namespace fermata::sim
