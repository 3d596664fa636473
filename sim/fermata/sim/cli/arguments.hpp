// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tool was told: by flags, and where there are none by the variables of the same name.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/cli/run_options.hpp"

namespace fermata::sim::cli {

struct Setting {
  std::string value;
  /// "--runs" or "FERMATA_RUNS".
  std::string origin;
};

struct Arguments {
  /// "run", "list", ...; empty when the help was asked for, and has been printed.
  std::string verb;
  std::vector<std::string> operands;
  /// The arguments of `debug` after "--", for gdb.
  std::vector<std::string> further;
  /// By the name of the variable: "FERMATA_RUNS".
  std::map<std::string, Setting> settings;

  /// Empty when it was not given.
  [[nodiscard]] std::string value(const std::string& variable) const {
    const auto found = settings.find(variable);
    return found == settings.end() ? std::string() : found->second.value;
  }
};

/// A verb, its operands and the settings it reads.
struct Verb {
  std::string name;
  std::string operand;  // "BIN"; empty for none.
  bool many;            // Several of it.
  std::string help;
  std::vector<std::string> variables;
};

[[nodiscard]] const std::vector<Verb>& verbs();

inline constexpr std::string_view kToolPurpose =
    "Explores the schedules of simulated tests, one process for each chunk of seeds.";
/// The codes that the tool ends with and what they mean, for the end of a help text.
[[nodiscard]] std::string exit_codes();

/// The flag of a variable: "--time-limit" for "FERMATA_TIME_LIMIT".
[[nodiscard]] std::string flag_of(std::string_view variable);
/// All names of the flag, with a comma between: "-v,--verbose".
[[nodiscard]] std::string flag_names(const Verb& verb, std::string_view variable);
/// Whether the flag takes no value.
[[nodiscard]] bool is_switch(std::string_view variable);

/// Throws UsageError, which names the flag or the variable.
[[nodiscard]] Arguments parse_arguments(int argc, const char* const* argv);

/// Throws UsageError.
[[nodiscard]] RunOptions run_options(const Arguments& arguments);

}  // namespace fermata::sim::cli
