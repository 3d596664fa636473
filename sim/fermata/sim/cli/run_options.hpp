// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/run_range.hpp"
#include "fermata/sim/cli/shard.hpp"

namespace fermata::sim::cli {

/// The options of `fermata run`.
struct RunOptions {
  std::string filter = "*";
  bool disabled = false;

  std::uint64_t seed = 1;
  /// Runs of each test; kNoEnd: until something else ends it.
  std::uint64_t runs = kNoEnd;
  /// For all tests together.
  std::optional<std::chrono::milliseconds> time;
  /// The exploration of a test ends when new behaviours are rarer than this, in parts per million;
  /// 0: never.
  std::uint64_t until_stable_ppm = 0;
  bool keep_going = false;
  std::string strategy;
  std::string faults = "all";
  /// Further variables for test processes, by name.
  Settings handed_on;

  unsigned jobs = 1;
  Shard shard;
  std::chrono::milliseconds wall_limit{60'000};
  std::uint64_t memory_limit = 0;

  std::string corpus;
  std::string out = "fermata-out";
  bool resume = false;
  std::string junit;
  std::string json;
  bool verbose = false;
};

/// The variables that every test process reads.
[[nodiscard]] Settings settings_of_tests(const RunOptions& options);

}  // namespace fermata::sim::cli
