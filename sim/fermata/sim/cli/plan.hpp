// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is to be explored, and how it is written down.

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fermata/sim/cli/run_options.hpp"
#include "fermata/sim/cli/test_binary.hpp"

namespace fermata::sim::cli {

/// The parameters of the exploration.
struct Plan {
  std::string program;
  std::string build;
  std::vector<std::string> tests;
  /// Whether `tests` are all tests of the program, apart from disabled ones.
  bool whole_program = false;
  RunOptions options;
  /// How long the processes of each test have lived, when that is over.
  std::map<std::string, std::chrono::milliseconds> spent = {};

  [[nodiscard]] static Plan of(const RunOptions& options, const TestBinary& binary,
                               const std::vector<ListedTest>& tests);

  /// Whether ranges of `other` are ranges of this, but for the shard.
  [[nodiscard]] bool same_exploration(const Plan& other) const;
};

/// What decides what the runs are, in the order of the names.
[[nodiscard]] nlohmann::json identity_of(const Plan& plan);
/// Everything in it, for a file.
[[nodiscard]] nlohmann::json json_of(const Plan& plan);
/// From what json_of() gives; what is missing stays as in a new plan.
[[nodiscard]] Plan plan_of(const nlohmann::json& json);
/// The JSON of the file `path`, which is to be a plan of this format. `owner` says what the folder
/// was expected to be. Throws UsageError when it is not.
[[nodiscard]] nlohmann::json read_plan_file(const std::string& path, const std::string& owner);
/// Replaces the file `path`. Throws InputOutputError.
void write_plan_file(const std::string& path, nlohmann::json json);

}  // namespace fermata::sim::cli
