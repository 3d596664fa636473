// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/reproduce.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/test_host.hpp"

namespace fermata::sim::detail {

Settings settings_of(const Reproduction& reproduction, const Options& options) {
  FERMATA_ASSERT(reproduction.runs > 0);
  FERMATA_ASSERT(!reproduction.strategy.empty());
  const Options usual;
  Settings settings = {{"FERMATA_SEED", seed_text(reproduction.seed)},
                       {"FERMATA_RUNS", std::to_string(reproduction.runs)},
                       {"FERMATA_STRATEGY", reproduction.strategy},
                       {"FERMATA_FAULTS", options.faults_text}};
  if (reproduction.first_run != 0) {
    settings.emplace_back("FERMATA_FIRST_RUN", std::to_string(reproduction.first_run));
  }
  if (options.limits.time != usual.limits.time) {
    settings.emplace_back("FERMATA_TIME_LIMIT", duration_text(options.limits.time));
  }
  if (options.limits.steps != usual.limits.steps) {
    settings.emplace_back("FERMATA_STEP_LIMIT", std::to_string(options.limits.steps));
  }
  if (options.limits.steps_at_instant != usual.limits.steps_at_instant) {
    settings.emplace_back("FERMATA_INSTANT_LIMIT", std::to_string(options.limits.steps_at_instant));
  }
  constexpr const char* kGuardModes[] = {"fail", "warn", "off"};
  if (options.guard.mode != usual.guard.mode) {
    settings.emplace_back("FERMATA_GUARD", kGuardModes[static_cast<int>(options.guard.mode)]);
  }
  if (!options.guard.allowed.empty()) {
    settings.emplace_back("FERMATA_GUARD_ALLOW",
                          fmt::format("{}", fmt::join(options.guard.allowed, ",")));
  }
  if (!options.imports.allowed.empty()) {
    settings.emplace_back("FERMATA_ALLOW_POSIX",
                          fmt::format("{}", fmt::join(options.imports.allowed, ",")));
  }
  if (!options.names) settings.emplace_back("FERMATA_NAMES", "off");
  if (options.full_audit) {
    settings.emplace_back("FERMATA_AUDIT", "full");
  } else if (!options.adaptive_audit) {
    settings.emplace_back("FERMATA_AUDIT", "touched");
  }
  if (options.twin || options.check_determinism != usual.check_determinism) {
    settings.emplace_back(
        "FERMATA_CHECK_DETERMINISM",
        fmt::format("{}{}", options.twin ? "twin:" : "", options.check_determinism));
  }
  if (!options.twin_program.empty()) settings.emplace_back("FERMATA_TWIN", options.twin_program);
  return settings;
}

std::string command_line(const Settings& settings, const std::string& test) {
  std::string line;
  for (const auto& [name, value] : settings) line += name + '=' + shell_quoted(value) + ' ';
  line += shell_quoted(path_to_type());
  for (const std::string& argument : arguments_for(test)) line += ' ' + shell_quoted(argument);
  return line;
}

std::vector<std::string> arguments_for(const std::string& test) {
  FERMATA_ASSERT(!test.empty());
  if (const TestHost* host = test_host()) return host->arguments();
  std::vector<std::string> arguments = {"--gtest_filter=" + test};
  if (test.find("DISABLED_") != std::string::npos) {
    arguments.emplace_back("--gtest_also_run_disabled_tests");
  }
  return arguments;
}

}  // namespace fermata::sim::detail
