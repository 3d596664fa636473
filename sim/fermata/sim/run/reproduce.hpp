// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a run is made again in another process: the variables that fix it, and the line that a person
// pastes into a shell.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::detail {

struct Reproduction {
  std::uint64_t seed = 0;
  std::uint64_t runs = 1;
  std::string strategy;
  /// Not 0: of an exploration of `seed` a part that begins with this run.
  std::uint64_t first_run = 0;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Everything that decides what the run will be; `options` has what is as in this process.
[[nodiscard]] Settings settings_of(const Reproduction& reproduction, const Options& options);

/// "FERMATA_SEED=0x2a ... ./build/test --gtest_filter=Suite.Name".
[[nodiscard]] std::string command_line(const Settings& settings, const std::string& test);

/// The arguments with which this program runs `test` and no other.
[[nodiscard]] std::vector<std::string> arguments_for(const std::string& test);

}  // namespace fermata::sim::detail
