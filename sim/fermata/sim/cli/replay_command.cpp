// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/commands.hpp"
#include "fermata/sim/cli/event_reader.hpp"
#include "fermata/sim/cli/tape_command.hpp"
#include "fermata/sim/cli/test_binary.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/record/crash.hpp"
#include "fermata/sim/report/report_format.hpp"
#include "fermata/sim/run/fresh_process.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata::sim::cli {
namespace {

/// Whatever it is called: a program can be executed, and a tape cannot.
bool is_tape(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw UsageError(fmt::format("there is neither a tape nor a program {}", path));
  }
  return ::access(path.c_str(), X_OK) != 0 || path.ends_with(".tape");
}

Command command_for_seed(const Arguments& arguments) {
  const TestBinary binary(arguments.operands.front());
  if (arguments.value("FERMATA_SEED").empty()) {
    throw UsageError("--seed is missing: expected the seed that the report of the failure shows");
  }
  const std::string filter = arguments.value("FERMATA_FILTER");
  const auto tests =
      binary.selected(filter.empty() ? "*" : filter, arguments.value("FERMATA_DISABLED") == "on");
  if (tests.size() > 1) {
    throw UsageError(
        fmt::format("'{}' selects {} tests, the first of them {}; --filter has to "
                    "select one",
                    filter.empty() ? "*" : filter, tests.size(), tests.front().name));
  }
  Command command = binary.command_for(tests.front().name);
  command.settings.emplace_back("FERMATA_RUNS", "1");
  return command;
}

/// The heaviest of what the process has reported, if it could do what it was asked; its exit code
/// when it has reported nothing. One that tells nothing and is content, or was to die, has not come
/// to the end of the run.
int verdict(const ReportedEvents& reported, const Ending& ending, bool deadly) {
  if (!reported.error.empty()) return kUsage;
  const bool told_nothing = !reported.replayed && !reported.explored && reported.failures.empty();
  if (ending.signal != 0 || (told_nothing && (deadly || ending.code == kPass))) {
    fmt::print(stderr, "fermata: the test process {}\n", ending.text());
    return exit_code_of("crash");
  }
  int code = kPass;
  for (const FailureRecord& failure : reported.failures) {
    code = heavier(code, exit_code_of(failure.failure_class));
  }
  return code == kPass ? ending.code : code;
}

/// Runs `command` with what else was given, in the foreground.
int run_and_judge(Command command, const Arguments& arguments, bool deadly = false) {
  for (const auto& [name, given] : arguments.settings) {
    const bool of_tool =
        name == "FERMATA_PROGRAM" || name == "FERMATA_FILTER" || name == "FERMATA_DISABLED";
    if (!of_tool) command.settings.emplace_back(name, given.value);
  }
  if (!arguments.value("FERMATA_BREAK_AT").empty()) become(command);
  const sim::detail::TemporaryFile events;
  command.settings.emplace_back("FERMATA_INTERNAL_EVENTS", events.path());
  const Ending ending = run_in_foreground(command);
  const int code = verdict(read_events(events.path()), ending, deadly);
  ::unlink((events.path() + ".behaviours").c_str());
  return code;
}

}  // namespace

int replay_command(const Arguments& arguments) {
  const std::string& path = arguments.operands.front();
  if (!is_tape(path)) return run_and_judge(command_for_seed(arguments), arguments);
  return run_and_judge(command_for_tape(arguments), arguments, is_crash(load_tape(path).signature));
}

int shrink_command(const Arguments& arguments) {
  Command command = command_for_tape(arguments);
  command.settings.emplace_back("FERMATA_SHRINK", "on");
  return run_and_judge(std::move(command), arguments);
}

int report_command(const Arguments& arguments) {
  const std::string file = arguments.value("FERMATA_REPORT");
  if (file.empty() || file == "auto" || file == "off") {
    throw UsageError("-o is missing: the file for the report");
  }
  const std::string format = arguments.value("FERMATA_REPORT_FORMAT");
  static_cast<void>(format.empty() ? format_of_file(file) : parse_report_format(format));
  return run_and_judge(command_for_tape(arguments), arguments);
}

int explain_command(const Arguments& arguments) {
  Command command = command_for_tape(arguments);
  command.settings.emplace_back("FERMATA_EXPLAIN", "on");
  return run_and_judge(std::move(command), arguments);
}

}  // namespace fermata::sim::cli
